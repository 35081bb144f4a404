#include "process/cgroup.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/test_deadline.h"
#include "process/levels.h"

namespace gangrun::process {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Cgroup, FindsTheMountsOfBothVersions) {
  const auto mounts = parse_cgroup_mounts(
      "25 30 0:23 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
      "31 25 0:26 / /sys/fs/cgroup/unified rw,relatime shared:9 master:1 - cgroup2 cgroup2 rw\n"
      "32 25 0:27 /docker/x /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "33 25 0:28 / /with\\040blank rw - cgroup2 none rw\n"
      "34 25 0:28 / rw - cgroup2\n");
  ASSERT_THAT(mounts, SizeIs(3));
  EXPECT_TRUE(mounts[0].version_2);
  EXPECT_EQ(mounts[0].folder, "/sys/fs/cgroup/unified");
  EXPECT_EQ(mounts[0].root, "/");
  EXPECT_FALSE(mounts[1].version_2);
  EXPECT_EQ(mounts[1].root, "/docker/x");
  EXPECT_THAT(mounts[1].controllers, ElementsAre("rw", "cpu", "cpuacct"));
  EXPECT_EQ(mounts[2].folder, "/with blank");
  EXPECT_THAT(parse_cgroup_mounts(""), IsEmpty());
}

TEST(Cgroup, FindsTheOwnPathOfEachHierarchy) {
  const std::string text = "9:name=systemd:/a\n4:cpu,memory:/b:c\n0::/user.slice/x.scope\n";
  EXPECT_EQ(parse_own_cgroup(text, ""), "/user.slice/x.scope");
  EXPECT_EQ(parse_own_cgroup(text, "memory"), "/b:c");
  EXPECT_EQ(parse_own_cgroup(text, "pids"), std::nullopt);
  EXPECT_EQ(parse_own_cgroup("4:memory:/b\n", ""), std::nullopt);
  EXPECT_EQ(parse_own_cgroup("nonsense", ""), std::nullopt);
}

TEST(Cgroup, RefusesNamesThatAreNoPartOfAFolderName) {
  for (const std::string& name : {std::string(), std::string("a/b"), std::string(201, 'x')}) {
    const auto group = TaskCgroup::create(name);
    ASSERT_FALSE(group.ok());
    EXPECT_EQ(group.error().code, base::Code::kInvalidArgument);
  }
}

// If the host has no cgroup that we may use, create() must say why instead.
class CgroupOnHost : public testing::Test {
 protected:
  CgroupOnHost() : group(TaskCgroup::create("test")) {
    if (group.ok()) return;
    const Ability ability = probe_level(Level::kCgroup);
    EXPECT_FALSE(ability.possible);
    EXPECT_FALSE(ability.reason.empty());
  }
  ~CgroupOnHost() override {
    if (group.ok()) {
      EXPECT_TRUE(group->remove(base::soon()).ok());
      EXPECT_FALSE(std::filesystem::exists(group->folder()));
    }
  }
  // A process in the group that waits for its end, and whose child does the same.
  pid_t member() const {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (::write(group->procs_fd(), "0", 1) != 1) ::_exit(1);
      if (::fork() > 0 && ::write(ready[1], "x", 1) != 1) ::_exit(1);
      while (true) ::pause();
    }
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
    return pid;
  }
  static void move_all(const std::string& from, const std::string& to) {
    std::ifstream list(from + "/cgroup.procs");
    std::vector<pid_t> pids;
    for (pid_t pid = 0; list >> pid;) pids.push_back(pid);
    for (const pid_t pid : pids) std::ofstream(to + "/cgroup.procs") << pid << std::flush;
  }
  static int status_of(pid_t pid) {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return status;
  }

  base::Result<TaskCgroup> group;
};

TEST_F(CgroupOnHost, KillsAllItsProcessesAtOnce) {
  if (!group.ok()) return;
  EXPECT_THAT(group->processes(), IsEmpty());
  const pid_t pid = member();
  EXPECT_THAT(group->processes(), SizeIs(2));
  group->kill_all();
  EXPECT_EQ(WTERMSIG(status_of(pid)), SIGKILL);
}

TEST_F(CgroupOnHost, KillsOneByOneWhereTheKernelIsOlder) {
  if (!group.ok()) return;
  const pid_t pid = member();
  group->kill_one_by_one();
  EXPECT_EQ(WTERMSIG(status_of(pid)), SIGKILL);
}

TEST_F(CgroupOnHost, ItsNameIsNotUsedTwice) {
  if (!group.ok()) return;
  const auto again = TaskCgroup::create("test");
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, base::Code::kAlreadyExists);
}

TEST_F(CgroupOnHost, IsNotRemovedWhileSomebodyIsInIt) {
  if (!group.ok()) return;
  const pid_t pid = member();
  const auto removed = group->remove(std::chrono::steady_clock::now());
  ASSERT_FALSE(removed.ok());
  EXPECT_THAT(removed.error().message, HasSubstr(group->folder()));
  group->kill_all();
  status_of(pid);
}

// A task's guardian and agent were killed at once: its group stayed forever.
TEST_F(CgroupOnHost, IsRemovedWhenItsMakerHasEndedAndNobodyIsInIt) {
  if (!group.ok()) return;
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  const pid_t maker = ::fork();
  if (maker == 0) {
    const auto made = TaskCgroup::create("abandoned");
    const std::string folder = made.ok() ? made->folder() : "";
    if (::write(told[1], folder.data(), folder.size()) <= 0) ::_exit(1);
    while (true) ::pause();
  }
  ::close(told[1]);
  std::string left(4096, '\0');
  left.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(told[0], left.data(), 4096))));
  ::close(told[0]);
  std::filesystem::create_directory(left + "/below");
  remove_abandoned_cgroups();
  EXPECT_TRUE(std::filesystem::exists(left + "/below")) << "its maker is alive";

  const pid_t survivor = member();
  move_all(group->folder(), left);
  ::kill(maker, SIGKILL);
  EXPECT_EQ(WTERMSIG(status_of(maker)), SIGKILL);
  remove_abandoned_cgroups();
  EXPECT_TRUE(std::filesystem::exists(left + "/below")) << "somebody is in it";

  move_all(left, group->folder());
  EXPECT_THAT(group->processes(), SizeIs(2));
  EXPECT_TRUE(probe_level(Level::kCgroup).possible) << "which clears away, for who uses groups";
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(group->folder()));
  group->kill_all();
  EXPECT_EQ(WTERMSIG(status_of(survivor)), SIGKILL);
}

TEST_F(CgroupOnHost, IsNotRemovedWhereItsMakerCannotBeJudged) {
  if (!group.ok()) return;
  const std::filesystem::path own = group->folder();
  const std::string nobody = ".2147483647";  // more than any process's number
  const std::string here = own.stem().extension();
  const auto stays = [&](const std::string& name) {
    const std::filesystem::path folder = own.parent_path() / name;
    std::filesystem::create_directory(folder);
    remove_abandoned_cgroups();
    return std::filesystem::remove(folder);
  };
  EXPECT_FALSE(stays("gangrun-test" + here + nobody));
  EXPECT_TRUE(stays("stranger" + here + nobody));
  EXPECT_TRUE(stays("gangrun-test.1" + nobody)) << "of another PID namespace";
  EXPECT_TRUE(stays("gangrun-test" + here + ".x"));
  EXPECT_TRUE(stays("gangrun-test" + here + ".0"));
  EXPECT_TRUE(stays("gangrun-test"));
}

}  // namespace
}  // namespace gangrun::process
