#include "jobfile/checks.h"

#include <gmock/gmock.h>

#include "job/limits.h"
#include "jobfile/build.h"
#include "jobfile/spec_yaml.h"

namespace gangrun::jobfile {
namespace {

job::JobSpec built_archives(const std::string& text) {
  const auto draft = parse_spec(text, "job.yaml");
  EXPECT_TRUE(draft.ok()) << draft.error().message;
  auto spec = build(*draft, {}, {});
  EXPECT_TRUE(spec.ok()) << spec.error().message;
  return spec.value_or(job::JobSpec{});
}

std::string archives_error(const std::string& text) {
  const auto draft = parse_spec(text, "job.yaml");
  if (!draft.ok()) return draft.error().message;
  const auto spec = build(*draft, {}, {});
  return spec.ok() ? "" : spec.error().message;
}

TEST(Archives, ThoseOfATypeWinByName) {
  const job::JobSpec spec = built_archives(
      "tasks: {ps: , worker: {archives: {env: b.tgz, data: 'hdfs:///d.zip'}}}\ncommand: x\n"
      "archives: {env: a.tar.gz, lib: c.TAR}\non: yarn\n");
  EXPECT_THAT(
      spec.archives_of(*spec.find("ps")),
      testing::ElementsAre(testing::Pair("env", "a.tar.gz"), testing::Pair("lib", "c.TAR")));
  EXPECT_THAT(spec.archives_of(*spec.find("worker")),
              testing::ElementsAre(testing::Pair("data", "hdfs:///d.zip"),
                                   testing::Pair("env", "b.tgz"), testing::Pair("lib", "c.TAR")));
}

TEST(Archives, KnowsWhatNodesUnpack) {
  for (const char* path :
       {"a.tar.gz", "a.tgz", "/x/a.tar", "hdfs://n/a.zip", "a.pex.zip", "A.ZIP"}) {
    EXPECT_TRUE(is_archive_name(path)) << path;
  }
  for (const char* path : {"", "a", "a.pex", "a.gz", ".tar", "a.tar.bz2", "a.zip/", "azip"}) {
    EXPECT_FALSE(is_archive_name(path)) << path;
  }
}

// P8: each by itself.
TEST(Archives, WhatCannotBeOneIsRefused) {
  const std::string job = "tasks: {w: }\ncommand: x\non: yarn\narchives: ";
  const std::pair<const char*, const char*> values[] = {
      {"[a.zip]",
       "job.yaml:4:11: archives: a list is not allowed; allowed: a map of folders to "
       "archives, for example {env: env.tar.gz}"},
      {"{env: }", "job.yaml:4:17: archives.env: nothing is not allowed; "},
      {"{env: ''}", "job.yaml:4:12: archives.env: the path is empty"},
      {"{env: venv}",
       "job.yaml:4:12: archives.env: 'venv' is not an archive; allowed: paths and URLs that end in "
       ".tar.gz, .tgz, .tar, .zip; use `files` for other files and folders"},
      {"{env: a.pex}", "job.yaml:4:12: archives.env: 'a.pex' is not an archive; "},
      {"{env: 's3a://b/a.zip'}",
       "job.yaml:4:12: archives.env: 's3a://b/a.zip' is not in a file "
       "system of a cluster; "},
      {"{'a/b': a.zip}", "job.yaml:4:11: archives: 'a/b' is not the name of an archive's folder; "},
      {"{gangrun-files: a.zip}",
       "archives: 'gangrun-files' is not the name of an archive's folder"},
      {"{'.': a.zip}", "archives: '.' is not the name of an archive's folder"},
  };
  for (const auto& [value, message] : values) {
    EXPECT_THAT(archives_error(job + value + "\n"), testing::HasSubstr(message)) << value;
  }
  EXPECT_THAT(archives_error("tasks: {w: {archives: {env: a}}}\ncommand: x\non: yarn\n"),
              testing::StartsWith("job.yaml:1:24: tasks.w.archives.env: 'a' is not an archive"));
  std::map<std::string, std::string> many;
  for (std::size_t i = 0; i <= job::kMaxArchives; ++i) many["a" + std::to_string(i)] = "a.zip";
  EXPECT_EQ(check_archives(many, "archives")->text, "65 archives are more than the limit of 64");
}

TEST(Outputs, AreRelativePaths) {
  EXPECT_FALSE(check_outputs({"model/", "a/b.txt", ".hidden", "..a", "a b"}, "outputs"));
  const std::vector<std::string> bad[] = {{""},    {"/"},    {"/a"},  {"../a"}, {"a/../b"}, {"."},
                                          {"a//"}, {"a/.."}, {"./a"}, {"a\nb"}, {"a", "a/"}};
  for (const auto& outputs : bad) {
    const auto found = check_outputs(outputs, "outputs");
    ASSERT_TRUE(found) << outputs.front();
    EXPECT_EQ(found->path, outputs.size() == 1 ? "outputs.0" : "outputs.1");
  }
  EXPECT_TRUE(check_outputs(std::vector<std::string>(65, "a"), "outputs"));
}

}  // namespace
}  // namespace gangrun::jobfile
