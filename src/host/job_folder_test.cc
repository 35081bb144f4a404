#include "host/job_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "jobfile/plan_json.h"

namespace gangrun::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

job::JobSpec hello() {
  job::JobSpec spec;
  spec.name = "hello";
  spec.tasks.resize(1);
  spec.tasks[0].type = "worker";
  spec.command.words = {"true"};
  spec.success = "all";
  return spec;
}

const base::WallTime kNoon = base::WallTime(std::chrono::seconds(1'769'860'800));

class JobFolderTest : public testing::Test {
 protected:
  JobFolderTest() {
    std::string name = testing::TempDir() + "job_folder_XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) home_ = name;
  }
  ~JobFolderTest() override { std::filesystem::remove_all(home_); }

  static mode_t mode_of(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777U : 0;
  }

  std::string home_;
};

TEST_F(JobFolderTest, HoldsWhatAJobNeedsAndOnlyForItsUser) {
  const auto folder = JobFolder::create(home_, hello(), kNoon);
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  EXPECT_TRUE(folder->id().starts_with("hello-20260131-120000-")) << folder->id();
  const JobPaths& paths = folder->paths();
  EXPECT_EQ(paths.folder, home_ + "/jobs/" + folder->id());
  EXPECT_EQ(mode_of(paths.folder), 0700U);
  EXPECT_EQ(mode_of(paths.secret()), 0600U);
  EXPECT_EQ(mode_of(paths.spec()), 0600U);
  EXPECT_TRUE(std::filesystem::is_directory(paths.logs()));
  EXPECT_TRUE(std::filesystem::is_empty(paths.logs()));
  EXPECT_EQ(*base::read_file(paths.secret(), 100), folder->secret().reveal());
  const auto json = base::parse_json(*base::read_file(paths.spec(), 100'000), 100'000);
  EXPECT_EQ(jobfile::job_spec_from_json(*json)->name, "hello");
}

TEST_F(JobFolderTest, KeepsTheCertificatePrivate) {
  const auto folder = JobFolder::create(home_, hello(), kNoon);
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(mode_of(folder->paths().key()), 0600U);
  EXPECT_EQ(mode_of(folder->paths().certificate()), 0600U);
  EXPECT_EQ(*net::fingerprint_of(*base::read_file(folder->paths().certificate(), 10'000)),
            folder->certificate().fingerprint);
}

// A name of 44 to 63 characters was refused, for its certificate's sake, with a hint about folders.
TEST_F(JobFolderTest, IsMadeForANameOfAnyLength) {
  for (const std::size_t length : {1U, 42U, 43U, 44U, 63U}) {
    job::JobSpec spec = hello();
    spec.name = std::string(length, 'n');
    const auto folder = JobFolder::create(home_, spec, kNoon);
    ASSERT_TRUE(folder.ok()) << length << ": " << folder.error().message;
    EXPECT_EQ(folder->id().size(), std::min<std::size_t>(length + 21, kMaxJobIdBytes));
    EXPECT_EQ(*resolve_job(*job_ids(home_), spec.name), folder->id());
    folder->remove();
  }
}

TEST_F(JobFolderTest, IsOpenedByTheNextMasterWhenTheLastHasGone) {
  std::optional<JobFolder> first = *JobFolder::create(home_, hello(), kNoon);
  const std::string path = first->paths().folder;
  const auto now = std::chrono::steady_clock::now();
  EXPECT_EQ(JobFolder::open(path, now).error().code, base::Code::kUnavailable);
  const std::string fingerprint = first->certificate().fingerprint;
  const std::string secret = first->secret().reveal();
  first.reset();
  const auto second = JobFolder::open(path, now);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(second->certificate().fingerprint, fingerprint);
  EXPECT_EQ(second->secret().reveal(), secret);
  EXPECT_TRUE(has_master(second->paths()));
}

TEST_F(JobFolderTest, IsLockedAsLongAsItsMasterLives) {
  std::optional<JobFolder> folder = *JobFolder::create(home_, hello(), kNoon);
  const JobPaths paths = folder->paths();
  EXPECT_TRUE(has_master(paths));
  EXPECT_TRUE(has_master(paths)) << "asking takes nothing";
  folder.reset();
  EXPECT_FALSE(has_master(paths));
}

TEST_F(JobFolderTest, AnIdSaysWhenItsJobWasSubmitted) {
  const auto at = kNoon + std::chrono::milliseconds(250);
  EXPECT_EQ(submitted_of(make_job_id("a-job", at, 7)), base::to_iso8601(at));
  EXPECT_EQ(submitted_of("wine"), "");
}

TEST_F(JobFolderTest, WhatAFolderLacksIsNoBadInput) {
  using base::Code;
  for (const Code code :
       {Code::kInvalidArgument, Code::kNotFound, Code::kDeadlineExceeded, Code::kCancelled}) {
    EXPECT_EQ(as_damage({code, "x"}).code, Code::kDataLoss);
  }
  EXPECT_EQ(as_damage({Code::kPermissionDenied, "x"}).code, Code::kPermissionDenied);
  const auto folder = JobFolder::create(home_, hello(), kNoon);
  std::filesystem::remove(folder->paths().secret());
  EXPECT_EQ(read_secret(folder->paths()).error().code, Code::kDataLoss);
}

TEST_F(JobFolderTest, IsGoneAfterRemove) {
  auto folder = JobFolder::create(home_, hello(), kNoon);
  ASSERT_TRUE(folder.ok());
  folder->remove();
  EXPECT_FALSE(std::filesystem::exists(folder->paths().folder));
}

// The values of its keys stayed for as long as its folder did.
TEST_F(JobFolderTest, OfAnEndedJobStaysWhatTellsOfIt) {
  const auto folder = JobFolder::create(home_, hello(), kNoon);
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  const JobPaths& paths = folder->paths();
  std::filesystem::create_directories(paths.keys());
  const std::string gone[] = {paths.launch(), paths.environment(), paths.zookeeper(),
                              paths.keys() + "/000001.jsonl"};
  for (const std::string& path : gone) ASSERT_TRUE(base::write_private_file(path, "x").ok());
  for (int time = 0; time < 2; ++time) {
    clear_ended_job(paths);
    for (const std::string& path : gone) EXPECT_FALSE(std::filesystem::exists(path)) << path;
    EXPECT_FALSE(std::filesystem::exists(paths.keys()));
    EXPECT_TRUE(std::filesystem::exists(paths.spec()));
    EXPECT_TRUE(std::filesystem::exists(paths.logs()));
  }
}

TEST_F(JobFolderTest, KnowsThatSomebodyHasRemovedIt) {
  const auto folder = JobFolder::create(home_, hello(), kNoon);
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  EXPECT_FALSE(folder->is_gone());
  std::filesystem::remove_all(folder->paths().folder);
  EXPECT_TRUE(folder->is_gone());
}

TEST_F(JobFolderTest, RemovesTheOldestEndedJobsOnly) {
  const auto living = JobFolder::create(home_, hello(), kNoon - std::chrono::hours(9999));
  ASSERT_TRUE(living.ok());
  std::vector<std::string> ended;
  for (std::size_t i = 0; i < kMaxEndedJobs + 2; ++i) {
    const auto id = make_job_id("hello", kNoon + std::chrono::seconds(i), 7);
    ASSERT_TRUE(base::make_folders(paths_of(home_, id).folder, 0700).ok());
    ended.push_back(id);
  }
  const auto newest = JobFolder::create(home_, hello(), kNoon + std::chrono::hours(1));
  ASSERT_TRUE(newest.ok());
  EXPECT_FALSE(std::filesystem::exists(paths_of(home_, ended[0]).folder));
  EXPECT_FALSE(std::filesystem::exists(paths_of(home_, ended[1]).folder));
  EXPECT_TRUE(std::filesystem::exists(paths_of(home_, ended[2]).folder));
  EXPECT_TRUE(std::filesystem::exists(living->paths().folder));
}

// Its folder was removed under its tasks when a job began between two of its masters.
TEST_F(JobFolderTest, KeepsAnOldJobThatHasOnlyItsSupervisor) {
  JobPaths old;
  {
    const auto dies = JobFolder::create(home_, hello(), kNoon - std::chrono::hours(9999));
    ASSERT_TRUE(dies.ok());
    old = dies->paths();
  }
  const auto supervisor = lock_as_supervisor(old);
  ASSERT_TRUE(supervisor.ok()) << supervisor.error().message;
  for (std::size_t i = 0; i < kMaxEndedJobs; ++i) {
    const auto id = make_job_id("hello", kNoon + std::chrono::seconds(i), 7);
    ASSERT_TRUE(base::make_folders(paths_of(home_, id).folder, 0700).ok());
  }
  ASSERT_FALSE(has_master(old));
  ASSERT_TRUE(JobFolder::create(home_, hello(), kNoon + std::chrono::hours(1)).ok());
  EXPECT_TRUE(std::filesystem::exists(old.folder));
}

// One of two commands said that the folder was not there, with an error.
TEST_F(JobFolderTest, TwoThatRemoveAJobAtOnceBothHaveRemovedIt) {
  const JobPaths job = paths_of(home_, make_job_id("hello", kNoon, 7));
  for (int round = 0; round < 20; ++round) {
    for (const char* folder : {"/logs/a", "/outputs/b/c", "/results/d"}) {
      const std::string path = job.folder + folder;
      ASSERT_TRUE(base::make_folders(path, 0700).ok());
      for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(base::write_private_file(base::format("{}/{}", path, i), "x").ok());
      }
    }
    base::Result<> second;
    std::thread other([&] { second = remove_ended_job(job); });
    const auto first = remove_ended_job(job);
    other.join();
    ASSERT_TRUE(first.ok()) << first.error().message;
    ASSERT_TRUE(second.ok()) << second.error().message;
    ASSERT_FALSE(std::filesystem::exists(job.folder));
  }
}

TEST_F(JobFolderTest, AHomeThatIsAFileIsOneClearError) {
  const std::string file = home_ + "/file";
  ASSERT_TRUE(base::write_private_file(file, "x").ok());
  const auto folder = JobFolder::create(file, hello(), kNoon);
  ASSERT_FALSE(folder.ok());
  EXPECT_THAT(folder.error().message, HasSubstr(file));
  EXPECT_THAT(folder.error().message, HasSubstr("set GANGRUN_HOME"));
}

// It said "No such file or directory".
TEST_F(JobFolderTest, ADiskThatCannotBeWrittenIsToldAsThat) {
  const std::string disk = home_ + "/disk";
  ASSERT_TRUE(base::make_folders(disk, 0700).ok());
  if (::mount("tmpfs", disk.c_str(), "tmpfs", MS_RDONLY, "size=16k") != 0) {
    ASSERT_EQ(errno, EPERM) << "only where nothing may be mounted";
    return;
  }
  const auto folder = JobFolder::create(disk + "/home", hello(), kNoon);
  ::umount(disk.c_str());
  ASSERT_FALSE(folder.ok());
  EXPECT_THAT(folder.error().message, HasSubstr(disk + "/home: Read-only file system"));
}

TEST_F(JobFolderTest, AFullDiskIsOneClearErrorAndLeavesNothing) {
  // /dev/full stands for a full disk where we may not mount a small one.
  const std::string disk = home_ + "/disk";
  ASSERT_TRUE(base::make_folders(disk, 0700).ok());
  const bool mounted = ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=16k") == 0;
  if (mounted) {
    const auto folder = JobFolder::create(disk, hello(), kNoon);
    ASSERT_FALSE(folder.ok());
    EXPECT_EQ(folder.error().code, base::Code::kResourceExhausted);
    EXPECT_THAT(folder.error().message, HasSubstr("No space left"));
    EXPECT_TRUE(std::filesystem::is_empty(disk + "/jobs"));
    ::umount(disk.c_str());
  } else {
    const auto written = base::write_all(base::UniqueFd(::open("/dev/full", 1)).get(), "x", "logs");
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().code, base::Code::kResourceExhausted);
  }
}

TEST(JobIds, AreFoundNewestFirst) {
  std::string home = testing::TempDir() + "job_ids_XXXXXX";
  ASSERT_NE(::mkdtemp(home.data()), nullptr);
  EXPECT_TRUE(job_ids(home)->empty());
  const std::string older = make_job_id("zebra", kNoon, 1);
  const std::string newer = make_job_id("ant", kNoon + std::chrono::seconds(1), 2);
  for (const std::string& name : {older, newer, std::string("stray"), std::string("a-b")}) {
    ASSERT_TRUE(base::make_folders(paths_of(home, name).folder, 0700).ok());
  }
  EXPECT_THAT(*job_ids(home), ElementsAre(newer, older));
  std::filesystem::remove_all(home);
}

TEST(JobIds, HaveTheBeginningOfALongName) {
  const std::string long_name = std::string(40, 'w') + "_-.and-more";
  EXPECT_EQ(make_job_id(long_name, kNoon, 1), make_job_id(std::string(40, 'w'), kNoon, 1));
  EXPECT_EQ(make_job_id(std::string(63, '-'), kNoon, 1).size(), kMaxJobIdBytes);
}

TEST(ResolveJob, TakesALongNameWhoseBeginningIsInTheId) {
  const std::string beginning(42, 'w');
  const std::vector<std::string> ids = {make_job_id(beginning + "x", kNoon, 2),
                                        make_job_id(beginning.substr(1), kNoon, 3)};
  EXPECT_EQ(*resolve_job(ids, beginning + "x"), ids[0]);
  EXPECT_FALSE(resolve_job(ids, "v" + beginning).ok());
  const auto several =
      resolve_job({ids[0], make_job_id(beginning + "y", kNoon, 4)}, beginning + "x");
  ASSERT_FALSE(several.ok());
  EXPECT_THAT(several.error().message, HasSubstr("is the name of 2 jobs"));
}

// "rr" was the beginning of 2 jobs.
TEST(ResolveJob, AWholeNameWinsOverTheBeginningOfOthers) {
  std::vector<std::string> ids = {make_job_id("rr2", kNoon, 1), make_job_id("rr", kNoon, 2),
                                  make_job_id("rr-old", kNoon, 3)};
  EXPECT_EQ(*resolve_job(ids, "rr"), ids[1]);
  EXPECT_EQ(*resolve_job(ids, "rr2"), ids[0]);
  EXPECT_THAT(resolve_job(ids, "r").error().message, HasSubstr("is the beginning of 3 jobs"));
  ids.push_back(make_job_id("rr", kNoon, 4));
  EXPECT_THAT(resolve_job(ids, "rr").error().message, HasSubstr("is the name of 2 jobs"));
}

TEST(ResolveJob, TakesIdsPrefixesAndLast) {
  const std::vector<std::string> ids = {"wine-20260131-120001-0002", "wine-20260131-120000-0001",
                                        "hello-20260130-120000-0003"};
  EXPECT_EQ(*resolve_job(ids, "last"), ids[0]);
  EXPECT_EQ(*resolve_job(ids, ids[1]), ids[1]);
  EXPECT_EQ(*resolve_job(ids, "hel"), ids[2]);
  const auto several = resolve_job(ids, "wine");
  ASSERT_FALSE(several.ok());
  EXPECT_EQ(several.error().code, base::Code::kNotFound);
  EXPECT_THAT(several.error().message, HasSubstr("is the beginning of 2 jobs"));
  EXPECT_FALSE(resolve_job(ids, "x").ok());
  EXPECT_FALSE(resolve_job(ids, "").ok());
  EXPECT_FALSE(resolve_job({}, "last").ok());
}

TEST(GangrunHome, ComesFromTheVariableOrTheHomeFolder) {
  EXPECT_EQ(*gangrun_home("/data/runs/", "/home/ana"), "/data/runs");
  EXPECT_EQ(*gangrun_home("", "/home/ana"), "/home/ana/.gangrun");
  EXPECT_FALSE(gangrun_home("", "").ok());
}

}  // namespace
}  // namespace gangrun::host
