#include "jobfile/shipped_files.h"

#include <gmock/gmock.h>

#include <map>

namespace gangrun::jobfile {
namespace {

using testing::ElementsAre;

// The files on the disk of these tests; the job is started in /home/ann/wine.
const std::map<std::string, FileKind> kDisk = {
    {"/home/ann/wine", FileKind::kFolder},
    {"/home/ann/wine/train.py", FileKind::kFile},
    {"/home/ann/wine/src", FileKind::kFolder},
    {"/home/ann/wine/src/train.py", FileKind::kFile},
    {"/home/ann/wine/src/deep/x.py", FileKind::kFile},
    {"/home/ann/wine/conf", FileKind::kFolder},
    {"/home/ann/other.py", FileKind::kFile},
    {"/home/ann/winery/x.py", FileKind::kFile},
    {"/data/wine.csv", FileKind::kFile},
    {"/data/old/wine.csv", FileKind::kFile},
    {"/data/src", FileKind::kFolder},
    {"/data/a#b.csv", FileKind::kFile},
    {"/data/env.tar.gz", FileKind::kFile},
    {"/data/other.zip", FileKind::kFile},
    {"/data/folder.zip", FileKind::kFolder},
    {"/data/\xff.csv", FileKind::kFile},
};

base::Result<ShippedFiles> shipped(const job::JobSpec& spec) {
  return shipped_files(spec, "/home/ann/wine", [](const std::string& path) {
    const auto found = kDisk.find(path);
    return found == kDisk.end() ? FileKind::kNone : found->second;
  });
}

job::JobSpec job_of(std::vector<std::string> files, std::vector<std::string> words = {}) {
  job::JobSpec spec;
  spec.tasks.emplace_back().type = "worker";
  spec.files = std::move(files);
  spec.command.words = std::move(words);
  return spec;
}

std::vector<LocalFile> local_of(const job::JobSpec& spec) {
  const auto files = shipped(spec);
  EXPECT_TRUE(files.ok()) << files.error().message;
  return files.ok() ? files->local : std::vector<LocalFile>();
}

std::string shipped_files_error(const job::JobSpec& spec) {
  const auto files = shipped(spec);
  return files.ok() ? "" : files.error().message;
}

TEST(ShippedFiles, FilesAndFoldersKeepTheirOwnNames) {
  EXPECT_THAT(
      local_of(job_of({"src/train.py", "conf/", "/data/wine.csv", "../other.py"})),
      ElementsAre(LocalFile{"/home/ann/wine/src/train.py", "train.py"},
                  LocalFile{"/home/ann/wine/conf", "conf"}, LocalFile{"/data/wine.csv", "wine.csv"},
                  LocalFile{"/home/ann/other.py", "other.py"}));
  EXPECT_THAT(local_of(job_of({"."})), ElementsAre(LocalFile{"/home/ann/wine", "wine"}));
}

TEST(ShippedFiles, FilesOfACommandKeepTheirRelativePaths) {
  EXPECT_THAT(local_of(job_of({}, {"python", "src/train.py", "./src/deep/x.py", "--x=train.py"})),
              ElementsAre(LocalFile{"/home/ann/wine/src/train.py", "src/train.py"},
                          LocalFile{"/home/ann/wine/src/deep/x.py", "src/deep/x.py"}));
}

TEST(ShippedFiles, WhatIsNoFileInsideTheFolderIsNotTakenFromACommand) {
  EXPECT_THAT(local_of(job_of({}, {"sh", "conf", "", "/data/wine.csv", "../other.py",
                                   "../winery/x.py", ".", "missing.py"})),
              ElementsAre());
  job::JobSpec shell = job_of({});
  shell.command.shell_line = "train.py";
  EXPECT_THAT(local_of(shell), ElementsAre());
}

TEST(ShippedFiles, EveryTypeHasItsCommand) {
  job::JobSpec spec = job_of({}, {"train.py"});
  spec.tasks.resize(3);
  spec.tasks[1].command.words = {"python", "src/train.py"};
  EXPECT_THAT(local_of(spec),
              ElementsAre(LocalFile{"/home/ann/wine/train.py", "train.py"},
                          LocalFile{"/home/ann/wine/src/train.py", "src/train.py"}));
}

TEST(ShippedFiles, TheSameFileIsShippedOnce) {
  EXPECT_THAT(
      local_of(job_of({"train.py", "./train.py"}, {"python", "train.py", "src/../train.py"})),
      ElementsAre(LocalFile{"/home/ann/wine/train.py", "train.py"}));
  // Inside a folder that is shipped itself.
  EXPECT_THAT(local_of(job_of({"src"}, {"python", "src/train.py", "src/deep/x.py"})),
              ElementsAre(LocalFile{"/home/ann/wine/src", "src"}));
}

TEST(ShippedFiles, TwoFilesOfOneNameAreRefused) {
  EXPECT_EQ(shipped_files_error(job_of({"/data/wine.csv", "/data/old/wine.csv"})),
            "files: '/data/wine.csv' and '/data/old/wine.csv' would both be 'wine.csv' in the "
            "tasks' folder; allowed: one of each name");
  EXPECT_EQ(shipped_files_error(job_of({"src/train.py"}, {"python", "train.py"})),
            "files: '/home/ann/wine/src/train.py' and '/home/ann/wine/train.py' would both be "
            "'train.py' in the tasks' folder; allowed: one of each name");
  EXPECT_EQ(shipped_files_error(job_of({"/data/src"}, {"python", "src/deep/x.py"})),
            "files: '/data/src' and '/home/ann/wine/src/deep/x.py' would both be 'src/deep/x.py' "
            "in the tasks' folder; allowed: one of each name");
  EXPECT_EQ(shipped_files_error(job_of({"hdfs://nn/wine.csv", "/data/wine.csv"})),
            "files: 'hdfs://nn/wine.csv' and '/data/wine.csv' would both be 'wine.csv' in the "
            "tasks' folder; allowed: one of each name");
}

// The dry run took it, and the hosts refused it.
TEST(ShippedFiles, AFileThatIsNeededAsAFolderIsRefusedWhicheverComesFirst) {
  EXPECT_EQ(shipped_files_error(job_of({"train.py#x/b", "../other.py#x"})),
            "files: '/home/ann/wine/train.py' and '/home/ann/other.py' would both be 'x/b' in the "
            "tasks' folder; allowed: one of each name");
  EXPECT_EQ(shipped_files_error(job_of({"../other.py#x", "train.py#x/b"})),
            "files: '/home/ann/other.py' and '/home/ann/wine/train.py' would both be 'x/b' in the "
            "tasks' folder; allowed: one of each name");
  EXPECT_EQ(shipped_files_error(job_of({"train.py#x!b", "src/train.py#src/train.py", "src"})), "");
}

TEST(ShippedFiles, ANameThatNoMachineCouldHaveIsRefused) {
  const std::string part(255, 'n');
  std::string deep = part;
  for (int i = 1; i < 12; ++i) deep += "/" + part;
  EXPECT_EQ(deep.size(), 3071U);
  EXPECT_EQ(shipped_files_error(job_of({"train.py#" + deep})), "");
  for (const std::string& name : {deep + "/n", part + "n", "a/" + part + "n"}) {
    EXPECT_THAT(shipped_files_error(job_of({"train.py#" + name})),
                testing::EndsWith("…' (" + std::to_string(name.size()) +
                                  " bytes) is too long for a name in the tasks' folder; allowed: "
                                  "3072 bytes, and 255 between slashes"));
  }
}

TEST(ShippedFiles, WhatIsNotThereIsRefused) {
  EXPECT_EQ(shipped_files_error(job_of({"nothing.py"})),
            "files: 'nothing.py': there is no such file or folder");
  EXPECT_EQ(shipped_files_error(job_of({"/"})), "files: '/': there is no such file or folder");
}

TEST(ShippedFiles, ANameThatIsNotUtf8IsNoneOnACluster) {
  EXPECT_EQ(shipped_files_error(job_of({"/data/\xff.csv"})),
            "files: '\xff.csv' cannot be a name in the tasks' folder; allowed on a cluster: UTF-8; "
            "another name is given behind a '#'");
  EXPECT_THAT(local_of(job_of({"/data/\xff.csv#wine.csv"})),
              ElementsAre(LocalFile{"/data/\xff.csv", "wine.csv"}));
}

TEST(ShippedFiles, WhatIsThereAlreadyIsOnlyNamed) {
  const auto files = shipped(job_of({"hdfs://nn:8020/data/a.csv", "viewfs:///x/b.csv#c.csv",
                                     "webhdfs://nn/d", "hdfs://nn:8020/data/a.csv", "train.py"}));
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_THAT(files->there, ElementsAre(ClusterFile{"hdfs://nn:8020/data/a.csv", "a.csv"},
                                        ClusterFile{"viewfs:///x/b.csv", "c.csv"},
                                        ClusterFile{"webhdfs://nn/d", "d"}));
  EXPECT_THAT(files->local, ElementsAre(LocalFile{"/home/ann/wine/train.py", "train.py"}));
}

TEST(ShippedFiles, TakeTheNameBehindTheHash) {
  EXPECT_THAT(
      local_of(
          job_of({"../other.py#train.py", "conf/#x/conf", "/data/a#b.csv", "/data/a#b.csv#c.csv"})),
      ElementsAre(LocalFile{"/home/ann/other.py", "train.py"},
                  LocalFile{"/home/ann/wine/conf", "x/conf"}, LocalFile{"/data/a#b.csv", "a#b.csv"},
                  LocalFile{"/data/a#b.csv", "c.csv"}));
}

TEST(ShippedFiles, ANameBehindTheHashStaysInTheFolder) {
  for (const char* name : {"..", "a/../b", "/etc/x", "a//b", "a/"}) {
    EXPECT_EQ(shipped_files_error(job_of({std::string("train.py#") + name})),
              "files: 'train.py#" + std::string(name) + "': '" + name +
                  "' cannot be a name in the tasks' folder; allowed: a relative path without '.' "
                  "and '..'");
  }
  EXPECT_EQ(shipped_files_error(job_of({"nothing.py#a"})),
            "files: 'nothing.py#a': there is no such file or folder");
  EXPECT_EQ(shipped_files_error(job_of({"#train.py"})),
            "files: '#train.py': there is no such file or folder");
  EXPECT_EQ(shipped_files_error(job_of({"../other.py#a", "train.py#a"})),
            "files: '/home/ann/other.py' and '/home/ann/wine/train.py' would both be 'a' in the "
            "tasks' folder; allowed: one of each name");
}

TEST(ShippedFiles, EachTypeHasItsArchives) {
  job::JobSpec spec = job_of({});
  spec.tasks.emplace_back().type = "ps";
  spec.archives = {{"env", "/data/env.tar.gz"}};
  spec.tasks.back().archives = {{"env", "../../../data/other.zip"}, {"d", "hdfs:///x.tgz"}};
  const auto files = shipped(spec);
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_THAT(files->archives, ElementsAre(ShippedArchive{"worker", "env", "/data/env.tar.gz"},
                                           ShippedArchive{"ps", "d", "hdfs:///x.tgz"},
                                           ShippedArchive{"ps", "env", "/data/other.zip"}));
}

TEST(ShippedFiles, AnArchiveIsAFileWithAFolderOfItsOwn) {
  const auto error_with = [](std::string folder, std::string source,
                             std::vector<std::string> words) {
    job::JobSpec spec = job_of({"/data/src"}, std::move(words));
    spec.archives = {{std::move(folder), std::move(source)}};
    return shipped_files_error(spec);
  };
  EXPECT_EQ(error_with("env", "no.zip", {}), "archives.env: 'no.zip': there is no such file");
  EXPECT_EQ(
      error_with("env", "/data/folder.zip", {}),
      "archives.env: '/data/folder.zip' is a folder; allowed: an archive; use `files` for folders");
  EXPECT_EQ(error_with("src", "/data/env.tar.gz", {}),
            "files: '/data/src' and '/data/env.tar.gz' would both be 'src' in the tasks' folder; "
            "allowed: one of each name");
  EXPECT_EQ(error_with("sr", "/data/env.tar.gz", {}), "");
}

TEST(ClusterFile, NeedsASchemeAndAName) {
  EXPECT_TRUE(is_cluster_url("hdfs://a/b"));
  for (const char* path : {"", "hdfs", "hdfs:/a", "://a", "s3a://a/b", "a/b://c", "HDFS://a/b"}) {
    EXPECT_FALSE(is_cluster_url(path)) << path;
  }
  EXPECT_TRUE(has_scheme("s3a://a/b"));
  EXPECT_FALSE(has_scheme("a/b://c"));
  for (const char* url : {"hdfs://nn", "hdfs://nn/", "hdfs://nn/a/", "hdfs://nn/a#",
                          "hdfs://nn/a#b/c", "hdfs://nn/..", "hdfs://nn/a#."}) {
    const auto file = cluster_file(url);
    ASSERT_FALSE(file.ok()) << url;
    EXPECT_THAT(file.error().message, testing::HasSubstr("gives the file no name"));
  }
  EXPECT_FALSE(cluster_file("train.py").ok());
}

}  // namespace
}  // namespace gangrun::jobfile
