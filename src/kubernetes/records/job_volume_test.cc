#include "kubernetes/records/job_volume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/files.h"
#include "base/test_folder.h"

namespace gangrun::kubernetes::records {
namespace {

namespace fs = std::filesystem;
using base::Code;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr std::size_t kMost = 1000;

struct JobVolumeTest : testing::Test {
  base::Result<JobVolume> open(const std::string& owner = "u-1") {
    return JobVolume::open(folder / "runs", "wine-1", owner);
  }
  static void put(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(path).parent_path());
    EXPECT_TRUE(base::write_file_atomically(path, text, 0600).ok());
  }
  static std::string text(const std::string& path) {
    return base::read_file(path, kMost).value_or("none");
  }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder / "runs/wine-1")) {
      all.push_back(entry.path().filename());
    }
    return all;
  }

  base::TestFolder folder;
};

TEST_F(JobVolumeTest, AFolderIsOfOneJobAlone) {
  EXPECT_TRUE(open().ok());
  EXPECT_TRUE(open().ok());
  struct stat info {};
  EXPECT_EQ(::stat((folder / "runs/wine-1").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  const auto other = open("u-2");
  EXPECT_EQ(other.error().code, Code::kAlreadyExists);
  EXPECT_THAT(other.error().message, HasSubstr("runs/wine-1 is the folder of another job"));
}

TEST_F(JobVolumeTest, WhatSomebodyElseHasThereIsNotTaken) {
  put(folder / "runs/wine-1/model", "theirs");
  EXPECT_EQ(open().error().code, Code::kAlreadyExists);
  fs::remove_all(folder / "runs/wine-1");
  fs::create_directory(folder / "elsewhere");
  fs::create_directory_symlink(folder / "elsewhere", folder / "runs/wine-1");
  EXPECT_EQ(open().error().code, Code::kAlreadyExists);
  EXPECT_TRUE(fs::is_empty(folder / "elsewhere"));
}

TEST_F(JobVolumeTest, EachMasterGoesOnWithACopy) {
  const JobVolume volume = open().value();
  ASSERT_TRUE(volume.begin(1, 0).ok());
  put(volume.journal_of(1) + "/000001.jsonl", "one\n");
  put(volume.journal_of(1) + "/000001.jsonl.spare", "room");
  put(volume.keys_of(1) + "/000001.jsonl", "keys\n");
  ASSERT_TRUE(volume.begin(2, 1).ok());
  // One that does not know of its end writes on, and nobody reads it.
  put(volume.journal_of(1) + "/000001.jsonl", "one\ntwo\n");
  EXPECT_EQ(text(volume.journal_of(2) + "/000001.jsonl"), "one\n");
  EXPECT_EQ(text(volume.keys_of(2) + "/000001.jsonl"), "keys\n");
  EXPECT_FALSE(fs::exists(volume.journal_of(2) + "/000001.jsonl.spare"));
  // A second try begins again.
  EXPECT_TRUE(volume.begin(2, 1).ok());
  EXPECT_EQ(text(volume.journal_of(2) + "/000001.jsonl"), "one\ntwo\n");
}

TEST_F(JobVolumeTest, AJournalThatIsNotThereIsAnError) {
  const JobVolume volume = open().value();
  const auto begun = volume.begin(3, 2);
  EXPECT_EQ(begun.error().code, Code::kDataLoss);
  EXPECT_THAT(begun.error().message, HasSubstr("/000002/journal"));
}

TEST_F(JobVolumeTest, OutputsOfEarlierMastersAreTakenAlong) {
  const JobVolume volume = open().value();
  for (const int master : {1, 2, 4}) ASSERT_TRUE(volume.begin(master, 0).ok());
  put(volume.outputs_of(1) + "/worker-0/model", "first");
  put(volume.outputs_of(1) + "/worker-1/model", "first");
  put(volume.outputs_of(2) + "/worker-1/model", "second");
  // The folder of a later one is not touched.
  ASSERT_TRUE(volume.begin(5, 4).ok());
  const auto taken = volume.take_outputs(4);
  EXPECT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_THAT(names(), UnorderedElementsAre("owner", "000004", "000005"));
  EXPECT_EQ(text(volume.outputs_of(4) + "/worker-0/model"), "first");
  EXPECT_EQ(text(volume.outputs_of(4) + "/worker-1/model"), "second");
  EXPECT_TRUE(volume.remove().ok());
  EXPECT_TRUE(fs::is_empty(folder / "runs"));
}

}  // namespace
}  // namespace gangrun::kubernetes::records
