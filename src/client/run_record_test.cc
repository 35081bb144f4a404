#include "client/run_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "base/test_folder.h"
#include "client/exit_status.h"

namespace gangrun::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

RunOptions some_options() {
  RunOptions options;
  jobfile::Flags& flags = options.flags;
  flags.roles = {"ps:1,worker:2"};
  flags.fields = {{"memory", {"2g", "ps:1g"}}, {"gpus", {}}};
  flags.job_fields = {{"on", "local"}, {"name", std::nullopt}};
  flags.job_lists = {{"files", {"a"}}, {"outputs", {}}};
  flags.job_switches = {{"keep_folders", true}, {"other", false}};
  flags.env = {"A=\xff", "B=2"};
  flags.timeouts = {"job=2h"};
  flags.hosts = {"h1:2"};
  flags.restarts = "3";
  flags.command = {"python3", "train.py"};
  flags.mirrors_in_zookeeper = true;
  options.spec_path = "job.yaml";
  options.spec_text = "tasks: {}";
  options.defaults = {jobfile::DefaultFile{.path = "/etc/gangrun.yaml", .text = "on: local"}};
  options.of_place = {{"--host", "here"}, {"--port", "7"}, {"--none", std::nullopt}};
  options.switches_of_place = {{"--serve-tls", true}, {"--other", false}};
  options.detach = true;
  options.dry_run = true;
  options.display.json = true;
  return options;
}

RunRecord record_of(const RunOptions& options) {
  return {.folder = "/f",
          .spec_path = options.spec_path,
          .text = options.spec_text,
          .defaults = options.defaults.value_or(std::vector<jobfile::DefaultFile>()),
          .flags = recorded(options),
          .files = {{"/f/a", 1, 2, 3}}};
}

TEST(RunRecord, FlagsAreTheSameAfterTheyWereKept) {
  const RunRecord record = record_of(some_options());
  const auto json = base::parse_json(base::dump_json(base::to_json(record)), 1U << 20U);
  ASSERT_TRUE(json.ok());
  const auto read = base::from_json<RunRecord>(*json);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->files, record.files);
  const RunOptions options = run_options_of(*read);
  EXPECT_EQ(base::dump_json(base::to_json(record_of(options))),
            base::dump_json(base::to_json(record)));
  EXPECT_THAT(options.flags.roles, ElementsAre("ps:1,worker:2"));
  EXPECT_THAT(options.flags.env, ElementsAre("A=\xff", "B=2"));
  EXPECT_EQ(options.flags.restarts, "3");
  EXPECT_EQ(options.flags.job_fields.at("on"), "local");
  EXPECT_EQ(record.flags.values.at("host"), "here");
  EXPECT_THAT(record.flags.switches, ElementsAre("serve_tls", "mirrors_in_zookeeper"));
  EXPECT_EQ(options.value_of_place("--host"), "here");
  EXPECT_EQ(options.value_of_place("--port"), "7");
  EXPECT_TRUE(options.has_switch_of_place("--serve-tls") && options.flags.mirrors_in_zookeeper);
  EXPECT_EQ(options.spec_text, "tasks: {}");
  EXPECT_FALSE(options.detach || options.dry_run || options.display.json)
      << "how it was shown is of that command";
}

TEST(RunRecord, WhatIsGivenBesideWins) {
  RunOptions options = some_options();
  RunOptions more;
  more.flags.roles = {"worker:5", "evaluator:1"};
  more.flags.fields = {{"memory", {"3g"}}};
  more.flags.job_fields = {{"on", "ssh"}, {"name", std::nullopt}};
  more.flags.env = {"B=3"};
  more.flags.hosts = {"h2"};
  more.flags.command = {"true"};
  more.display.quiet = true;
  add_options(more, options);
  EXPECT_THAT(options.flags.roles, ElementsAre("ps:1", "worker:5", "evaluator:1"));
  EXPECT_THAT(options.flags.fields.at("memory"), ElementsAre("2g", "ps:1g", "3g"));
  EXPECT_EQ(options.flags.job_fields.at("on"), "ssh");
  EXPECT_THAT(options.flags.env, ElementsAre("A=\xff", "B=2", "B=3"));
  EXPECT_THAT(options.flags.hosts, ElementsAre("h2"));
  EXPECT_THAT(options.flags.command, ElementsAre("true"));
  EXPECT_EQ(options.flags.restarts, "3");
  EXPECT_TRUE(options.display.quiet);
  EXPECT_FALSE(options.detach || options.dry_run || options.display.json);
}

TEST(RunRecord, AFileOrAFolderThatHasChangedIsAnotherOne) {
  const base::TestFolder folder;
  const std::string path = folder.path();
  ASSERT_TRUE(base::write_file_atomically(path + "/file", "one", 0600).ok());
  ASSERT_TRUE(std::filesystem::create_directories(path + "/tree/below"));
  ASSERT_TRUE(base::write_file_atomically(path + "/tree/below/file", "one", 0600).ok());
  job::JobSpec spec;
  spec.files = {"file", "tree", path + "/tree#other", "missing", "hdfs:///there"};
  const auto before = files_of(spec, path);
  ASSERT_THAT(before, SizeIs(2));
  EXPECT_EQ(before[0].path, path + "/file");
  EXPECT_EQ(before[0].bytes, 3U);
  EXPECT_EQ(before[1].files, 2U);
  EXPECT_EQ(files_of(spec, path), before);
  ASSERT_TRUE(base::write_file_atomically(path + "/tree/below/file", "three", 0600).ok());
  const auto after = files_of(spec, path);
  EXPECT_EQ(after[0], before[0]);
  EXPECT_FALSE(after[1] == before[1]);
  EXPECT_THAT(files_of(job::JobSpec(), path), IsEmpty());
}

TEST(RunRecord, ADamagedOneIsNoBadInput) {
  const base::TestFolder home;
  ASSERT_EQ(kept_run(home.path(), "wine-1").error().code, base::Code::kNotFound);
  ASSERT_TRUE(std::filesystem::create_directories(home.path() + "/runs"));
  for (const char* text : {"{", "[]", "{\"folder\": 3}", ""}) {
    const std::string path = home.path() + "/runs/wine-1.json";
    ASSERT_TRUE(base::write_file_atomically(path, text, 0600).ok());
    const auto read = kept_run(home.path(), "wine-1");
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(exit_status_of(read.error()), ExitStatus::kFailed) << text;
    EXPECT_THAT(read.error().message, testing::HasSubstr(path + " is damaged"));
  }
}

}  // namespace
}  // namespace gangrun::client
