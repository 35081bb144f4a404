#include "ssh/node/run_folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "base/test_deadline.h"
#include "base/unique_fd.h"
#include "process/agent_processes.h"
#include "process/spawn.h"

namespace gangrun::ssh::node {
namespace {

namespace fs = std::filesystem;

class RunFolderTest : public testing::Test {
 protected:
  RunFolderTest() {
    std::string text = "/tmp/gangrun-run-XXXXXX";
    base_ = ::mkdtemp(text.data());
  }
  ~RunFolderTest() override { fs::remove_all(base_); }

  [[nodiscard]] std::string path(const RunFolder& folder) const {
    return base_ + "/jobs/" + folder.name();
  }
  [[nodiscard]] bool is_there(const RunFolder& folder) const { return fs::exists(path(folder)); }
  // Until somebody else has the file open, too.
  static void wait_for_opened_lock(const std::string& path) {
    const std::string lock = fs::canonical(path);
    const auto deadline = base::soon();
    const auto opened = [&lock] {
      int count = 0;
      for (const auto& fd : fs::directory_iterator("/proc/self/fd")) {
        std::error_code closed;
        if (fs::read_symlink(fd.path(), closed) == lock) ++count;
      }
      return count > 1;
    };
    while (!opened()) ASSERT_LT(base::SystemClock().now(), deadline);
  }
  // As if nothing had been written there for that long.
  static void age(const std::string& path, std::chrono::seconds by) {
    timeval times[2] = {};
    for (timeval& time : times) {
      time.tv_sec = std::chrono::system_clock::to_time_t(base::SystemClock().wall_now() - by);
    }
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      ASSERT_EQ(::utimes(entry.path().c_str(), times), 0);
    }
    ASSERT_EQ(::utimes(path.c_str(), times), 0);
  }
  static void make_old(const std::string& path) { age(path, std::chrono::hours(25)); }

  std::string base_;
};

TEST_F(RunFolderTest, IsOursAloneAndGoesWithAllThatIsInIt) {
  auto folder = RunFolder::open(base_, "wine-1", "gpu1", "", base::soon());
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  struct stat info {};
  ASSERT_EQ(::stat(path(*folder).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  std::ofstream(folder->path() + "/work" + "/train.py") << "pass";
  std::ofstream(folder->log_prefix({"worker", 0}, 1) + ".out") << "line\n";
  EXPECT_TRUE(folder->remove(base::soon()).ok());
  EXPECT_FALSE(is_there(*folder));
}

// A folder in which a process of a task still writes: without its lock nobody could tell that
// nobody has it.
TEST_F(RunFolderTest, KeepsItsLockAsLongAsAnythingElseIsInIt) {
  auto folder = RunFolder::open(base_, "wine-1", "gpu1", "", base::soon());
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  std::atomic<bool> writes = true;
  std::atomic<bool> has_written = false;
  const std::string work = folder->path() + "/work";
  std::thread task([&] {
    while (writes) {
      std::error_code failed;
      // Not the job's folder itself, which is gone at some time.
      fs::create_directory(work, failed);
      fs::create_directory(work + "/new", failed);
      std::ofstream(work + "/new/file");
      has_written = true;
    }
  });
  while (!has_written) std::this_thread::yield();
  for (int i = 0; i < 100 && is_there(*folder); ++i) {
    (void)folder->remove(std::chrono::steady_clock::now());
    EXPECT_TRUE(!fs::exists(work) || fs::exists(folder->path() + "/lock"));
  }
  writes = false;
  task.join();
  EXPECT_TRUE(folder->remove(base::soon()).ok());
  EXPECT_FALSE(is_there(*folder));
}

// It stayed forever: of a lock that names nobody, nobody can tell that it is this machine's.
TEST_F(RunFolderTest, LeavesNothingWhereItsDiskIsFull) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto ignored = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const auto folder = RunFolder::open(base_, "wine-1", "gpu1", "", base::soon());
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, ignored);
  ASSERT_FALSE(folder.ok());
  EXPECT_TRUE(fs::is_empty(base_ + "/jobs")) << folder.error().message;
}

TEST_F(RunFolderTest, OneWhoseLockIsDamagedIsTold) {
  auto folder = RunFolder::open(base_, "wine-1", "gpu1", "", base::soon());
  ASSERT_TRUE(folder.ok());
  folder->give_up();
  fs::resize_file(path(*folder) + "/lock", 3);
  const auto removal = RunFolder::remove_all(base_, "wine-1", base::soon());
  EXPECT_EQ(removal.folders, 0U);
  EXPECT_TRUE(removal.left.starts_with(path(*folder) + ": its lock is damaged")) << removal.left;
  EXPECT_TRUE(is_there(*folder));
}

// A client that came back was refused, as the folder of the agents' socket was gone; or its tasks
// missed their files.
TEST_F(RunFolderTest, OneWhoseKeeperWasKilledWhileItRemovedItIsNotTakenAndGoes) {
  auto folder = RunFolder::open(base_, "wine-1", "gpu1", "", base::soon());
  ASSERT_TRUE(folder.ok());
  const std::string stuck = folder->path() + "/logs/stuck";
  ASSERT_TRUE(fs::create_directory(stuck));
  // Something that cannot be removed, also not by root.
  const bool is_mounted = ::mount("gangrun-test", stuck.c_str(), "tmpfs", 0, "size=64k") == 0;
  if (!is_mounted) {
    std::ofstream(stuck + "/file").put('x');
    ASSERT_EQ(::chmod(stuck.c_str(), 0500), 0);
  }
  const pid_t keeper = ::fork();
  if (keeper == 0) {
    (void)folder->remove(base::soon());
    ::_exit(0);
  }
  while (fs::exists(folder->path() + "/work")) std::this_thread::yield();
  ::kill(keeper, SIGKILL);
  ::waitpid(keeper, nullptr, 0);
  ASSERT_EQ(is_mounted ? ::umount(stuck.c_str()) : ::chmod(stuck.c_str(), 0700), 0);
  folder->give_up();
  auto next = RunFolder::open(base_, "wine-1", "gpu1", folder->name(), base::soon());
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_NE(next->name(), folder->name());
  EXPECT_EQ(RunFolder::end_abandoned(path(*folder)), RunFolder::State::kAbandoned);
  EXPECT_FALSE(is_there(*folder));
  EXPECT_TRUE(is_there(*next));
}

// It was told as removed, and had lost its lock.
TEST_F(RunFolderTest, OneThatCannotBeReadIsNotRemoved) {
  auto folder = RunFolder::open(base_, "wine-1", "gpu1", "", base::soon());
  ASSERT_TRUE(folder.ok());
  std::ofstream(folder->path() + "/work" + "/model") << "weights";
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto removed = folder->remove(std::chrono::steady_clock::now());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(removed.ok());
  EXPECT_TRUE(fs::exists(folder->path() + "/lock"));
  EXPECT_TRUE(folder->remove(base::soon()).ok());
  EXPECT_FALSE(is_there(*folder));
}

TEST_F(RunFolderTest, OneWithoutALockIsSweptOnceNobodyCanBeMakingIt) {
  const std::string path = base_ + "/jobs/wine-1-0123abcd";
  for (const bool is_old : {false, true}) {
    fs::create_directories(path + "/logs");
    if (is_old) age(path, std::chrono::minutes(11));
    RunFolder::sweep(base_, base::SystemClock().wall_now());
    EXPECT_EQ(fs::exists(path), !is_old);
  }
}

TEST_F(RunFolderTest, WhoLooksAfterItKnowsItBeforeItIsMade) {
  std::vector<std::string> told;
  const auto open = [&](const std::string& name, bool is_there) {
    return RunFolder::open(base_, "wine-1", "gpu1", name, base::soon(),
                           [&, is_there](const std::string& path) -> base::Result<> {
                             EXPECT_EQ(fs::exists(path), is_there);
                             told.push_back(path);
                             return {};
                           });
  };
  auto folder = open("", false);
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  folder->give_up();
  ASSERT_TRUE(open(folder->name(), true).ok());
  EXPECT_THAT(told, testing::ElementsAre(folder->path(), folder->path()));
}

TEST_F(RunFolderTest, IsFoundAgainByItsName) {
  std::string name;
  {
    auto folder = RunFolder::open(base_, "wine-1", "gpu1", "", base::soon());
    ASSERT_TRUE(folder.ok());
    name = folder->name();
    folder->give_up();
    auto again = RunFolder::open(base_, "wine-1", "gpu1", name, base::soon());
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again->socket(), folder->socket());
    // The older one may not remove what the newer one has.
    EXPECT_FALSE(folder->take_back());
    again->give_up();
    EXPECT_TRUE(folder->take_back());
  }
}

TEST_F(RunFolderTest, HasASocketWithAShortPathInADeepFolder) {
  const std::string deep = base_ + "/" + std::string(150, 'd');
  auto folder = RunFolder::open(deep, "wine-1", "gpu1", "", base::soon());
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  EXPECT_LT(folder->socket().size(), 100U);
  folder->give_up();
  auto again = RunFolder::open(deep, "wine-1", "gpu1", folder->name(), base::soon());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->socket(), folder->socket());
  const fs::path outside = fs::path(folder->socket()).parent_path();
  EXPECT_TRUE(fs::exists(outside));
  EXPECT_TRUE(again->remove(base::soon()).ok());
  EXPECT_FALSE(fs::exists(outside));
}

TEST_F(RunFolderTest, OldOnesThatNobodyHasAreSwept) {
  auto old = RunFolder::open(base_, "wine-1", "gpu1", "", base::soon());
  auto held = RunFolder::open(base_, "wine-2", "gpu1", "", base::soon());
  auto young = RunFolder::open(base_, "wine-3", "gpu1", "", base::soon());
  ASSERT_TRUE(old.ok() && held.ok() && young.ok());
  old->give_up();
  young->give_up();
  make_old(path(*old));
  make_old(path(*held));
  RunFolder::sweep(base_, base::SystemClock().wall_now());
  EXPECT_FALSE(is_there(*old));
  EXPECT_TRUE(is_there(*held));
  EXPECT_TRUE(is_there(*young));
}

// They stayed for a day.
TEST_F(RunFolderTest, ThoseThatAKilledKeeperHasLeftAreSweptOnceNoClientComesAgain) {
  auto folder = RunFolder::open(base_, "wine-1", "gpu1", "", base::soon());
  ASSERT_TRUE(folder.ok());
  folder->give_up();
  age(path(*folder), kAbandonedFor - std::chrono::minutes(1));
  RunFolder::sweep(base_, base::SystemClock().wall_now());
  EXPECT_TRUE(is_there(*folder));
  age(path(*folder), kAbandonedFor + std::chrono::minutes(1));
  std::ofstream(folder->log_prefix({"worker", 0}, 1) + ".out") << "a line of a moment ago\n";
  RunFolder::sweep(base_, base::SystemClock().wall_now());
  EXPECT_TRUE(is_there(*folder));
  age(path(*folder), kAbandonedFor + std::chrono::minutes(1));
  RunFolder::sweep(base_, base::SystemClock().wall_now());
  EXPECT_FALSE(is_there(*folder));
}

TEST_F(RunFolderTest, WhatTasksHaveWrittenStaysForADayWhereAllWereKilled) {
  auto folder = RunFolder::open(base_, "wine-1", "gpu1", "", base::soon());
  ASSERT_TRUE(folder.ok());
  std::ofstream(folder->path() + "/work" + "/model") << "weights";
  folder->give_up();
  make_old(path(*folder));
  RunFolder::sweep(base_, base::SystemClock().wall_now());
  EXPECT_TRUE(fs::exists(folder->path() + "/work" + "/model")) << "its day begins now";
  age(path(*folder), std::chrono::hours(23));
  RunFolder::sweep(base_, base::SystemClock().wall_now());
  EXPECT_TRUE(is_there(*folder));
  make_old(path(*folder));
  RunFolder::sweep(base_, base::SystemClock().wall_now());
  EXPECT_FALSE(is_there(*folder));
}

// Files that a client had put into the old folder have to be put into the new one, so that has
// another name.
TEST_F(RunFolderTest, HasAnotherNameWhereTheOlderOneWasRemoved) {
  auto folder = RunFolder::open(base_, "wine-1", "gpu1", "", base::soon());
  ASSERT_TRUE(folder.ok());
  EXPECT_TRUE(folder->remove(base::soon()).ok());
  auto again = RunFolder::open(base_, "wine-1", "gpu1", folder->name(), base::soon());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_NE(again->name(), folder->name());
  EXPECT_TRUE(fs::exists(again->path() + "/work"));
  EXPECT_FALSE(RunFolder::open(base_, "wine-1", "gpu1", "../wine-1", base::soon()).ok());
}

// The newer one waits for the lock while the older one removes the folder.
TEST_F(RunFolderTest, HasAnotherNameWhereTheOlderOneIsRemovedMeanwhile) {
  auto folder = RunFolder::open(base_, "wine-1", "gpu1", "", base::soon());
  ASSERT_TRUE(folder.ok());
  // The keeper that the newer one tells is no process any more.
  std::ofstream(path(*folder) + "/lock") << "1 1 machine gpu1";
  std::promise<base::Result<RunFolder>> opened;
  std::thread newer([&] {
    opened.set_value(RunFolder::open(base_, "wine-1", "gpu1", folder->name(), base::soon()));
  });
  wait_for_opened_lock(path(*folder) + "/lock");
  EXPECT_TRUE(folder->remove(base::soon()).ok());
  folder->give_up();
  newer.join();
  const auto again = opened.get_future().get();
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_NE(again->name(), folder->name());
}

// A home folder may be that of many machines.
// What tasks have written outlives the keeper for a limited time; what is to stay does.
TEST_F(RunFolderTest, OneThatIsKeptStaysForADayOrUntilItIsRemoved) {
  for (const bool until_removed : {false, true}) {
    auto folder = RunFolder::open(base_, "wine-1", "gpu1", "", base::soon());
    ASSERT_TRUE(folder.ok()) << folder.error().message;
    std::ofstream(fs::path(path(*folder)) / "work" / "model") << "weights";
    make_old(path(*folder));
    folder->keep(until_removed);
    EXPECT_FALSE(fs::exists(path(*folder) + "/logs"));
    RunFolder::sweep(base_, base::SystemClock().wall_now());
    EXPECT_TRUE(fs::exists(fs::path(path(*folder)) / "work" / "model"))
        << "its day begins when it is left";
    make_old(path(*folder));
    RunFolder::sweep(base_, base::SystemClock().wall_now());
    EXPECT_EQ(is_there(*folder), until_removed);
  }
  const auto removal = RunFolder::remove_all(base_, "wine-1", base::soon());
  EXPECT_EQ(removal.folders, 1U);
  EXPECT_EQ(removal.left, "");
  EXPECT_TRUE(fs::is_empty(base_ + "/jobs"));
}

TEST_F(RunFolderTest, OnlyThoseOfTheJobAreRemovedAndNoneThatAKeeperHas) {
  auto other = RunFolder::open(base_, "wine-12", "gpu1", "", base::soon());
  auto lives = RunFolder::open(base_, "wine-1", "gpu1", "", base::soon());
  ASSERT_TRUE(other.ok() && lives.ok());
  other->leave();
  const auto removal = RunFolder::remove_all(base_, "wine-1", base::soon());
  EXPECT_EQ(removal.folders, 0U);
  EXPECT_EQ(removal.left, path(*lives) + ": the job has not ended there");
  EXPECT_TRUE(is_there(*other) && is_there(*lives));
}

// A client that comes again finds what the tasks had written when it had gone.
TEST_F(RunFolderTest, OneThatWasLeftIsTakenAgain) {
  auto folder = RunFolder::open(base_, "wine-1", "gpu1", "", base::soon());
  ASSERT_TRUE(folder.ok());
  folder->leave();
  auto again = RunFolder::open(base_, "wine-1", "gpu1", folder->name(), base::soon());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->name(), folder->name());
}

TEST_F(RunFolderTest, OneOfAnotherMachineIsNotSwept) {
  auto folder = RunFolder::open(base_, "wine-1", "gpu1", "", base::soon());
  ASSERT_TRUE(folder.ok());
  std::ofstream(path(*folder) + "/lock") << "1 1 another.machine gpu1";
  folder->give_up();
  make_old(path(*folder));
  RunFolder::sweep(base_, base::SystemClock().wall_now());
  EXPECT_TRUE(is_there(*folder));
}

TEST_F(RunFolderTest, IsNotRemovedWhileAnAgentLives) {
  auto folder = RunFolder::open(base_, "wine-1", "gpu1", "", base::soon());
  ASSERT_TRUE(folder.ok());
  process::SpawnOptions options;
  // As an agent's command line, which a shell takes as its parameters.
  options.argv = {"sh", "-c",     "read line",
                  "sh", "--name", job_id_on_host("wine-1", "gpu1") + ".w.0"};
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const base::UniqueFd theirs(ends[0]);
  base::UniqueFd ours(ends[1]);
  options.standard_input = theirs.get();
  auto agent = process::spawn(options);
  ASSERT_TRUE(agent.ok()) << agent.error().message;
  // The kernel lets who started it go on before its command line can be read.
  const base::Instant deadline = base::soon();
  while (process::agent_processes(job_id_on_host("wine-1", "gpu1")).empty() &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(folder->remove(std::chrono::steady_clock::now()).ok());
  EXPECT_TRUE(is_there(*folder));
  folder->give_up();
  make_old(path(*folder));
  // By whatever name another client knows this host.
  RunFolder::sweep(base_, base::SystemClock().wall_now());
  EXPECT_TRUE(is_there(*folder));
  ours.reset();
  ASSERT_TRUE(agent->wait(base::soon()).ok());
  RunFolder::sweep(base_, base::SystemClock().wall_now());
  EXPECT_FALSE(is_there(*folder));
}

TEST(JobIdOnHost, IsTheBeginningOfNoOther) {
  EXPECT_FALSE(job_id_on_host("j", "gpu1.lan").starts_with(job_id_on_host("j", "gpu1")));
}

// An agent's name is a part of its cgroup's name, which has a limit.
TEST(JobIdOnHost, IsShortAndItsOwnForALongHost) {
  const std::string host(252, 'h');
  EXPECT_EQ(job_id_on_host("j", std::string(64, 'h')), "j@" + std::string(64, 'h') + "@");
  EXPECT_EQ(job_id_on_host("j", host).size(), 67U);
  EXPECT_NE(job_id_on_host("j", host + "1"), job_id_on_host("j", host + "2"));
}

// It stayed where a login was killed while the agent came.
TEST_F(RunFolderTest, PartsOfAgentsThatLoginsHaveLeftAreRemoved) {
  const std::string hash(64, 'a');
  fs::create_directories(base_ + "/agents");
  const auto put = [this](const std::string& name) {
    std::ofstream(base_ + "/agents/" + name) << "part";
  };
  const std::vector<std::string> left = {hash + ".4711", "try.4711"};
  const std::vector<std::string> kept = {hash, hash + ".orig", hash + ".", "notes.4711", "try.sh"};
  for (const auto& names : {left, kept}) {
    for (const std::string& name : names) put(name);
  }
  RunFolder::sweep(base_, base::SystemClock().wall_now());
  for (const std::string& name : left) EXPECT_TRUE(fs::exists(base_ + "/agents/" + name)) << name;
  age(base_, kAbandonedFor + std::chrono::seconds(1));
  put(hash + ".4712");  // comes now
  RunFolder::sweep(base_, base::SystemClock().wall_now());
  for (const std::string& name : left) EXPECT_FALSE(fs::exists(base_ + "/agents/" + name)) << name;
  for (const std::string& name : kept) EXPECT_TRUE(fs::exists(base_ + "/agents/" + name)) << name;
  EXPECT_TRUE(fs::exists(base_ + "/agents/" + hash + ".4712"));
}

}  // namespace
}  // namespace gangrun::ssh::node
