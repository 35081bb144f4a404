#include "process/containment.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "base/format.h"
#include "process/proc_fs.h"
#include "process/test_family.h"
#include "process/wait_for.h"

namespace gangrun::process {
namespace {

class ContainmentAtLevel : public testing::TestWithParam<Level> {
 protected:
  // If the host does not permit the level, the attempt must fail and say so; there is no more to
  // see then.
  bool possible(bool as_nobody = false) {
    if (!as_nobody && probe_level(GetParam()).possible) return true;
    if (as_nobody && ::geteuid() != 0) return false;
    Setting setting{.level = GetParam(),
                    .die_with_parent = true,
                    .as_nobody = as_nobody,
                    .script = "exit 0",
                    .agent_body = {}};
    Family family(setting);
    const int status = family.guardian_status();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    EXPECT_EQ(WEXITSTATUS(status), kAgentCannotContain);
    return false;
  }

  Setting stubborn(const std::string& end = "wait; sleep 1000\n") const {
    return {.level = GetParam(),
            .die_with_parent = true,
            .as_nobody = false,
            .script = stubborn_then(end),
            .agent_body = {}};
  }
};

std::size_t threads_of(pid_t pid) {
  const std::filesystem::directory_iterator threads(fmt::format("/proc/{}/task", pid));
  return static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
}

INSTANTIATE_TEST_SUITE_P(Levels, ContainmentAtLevel, testing::ValuesIn(kLevels),
                         [](const auto& instance) {
                           return std::string(to_string(instance.param));
                         });

TEST_P(ContainmentAtLevel, NothingSurvivesTheDeathOfTheAgent) {
  if (!possible()) return;
  Family family(stubborn());
  family.wait_until_up();
  EXPECT_GE(family.marked_processes().size(), std::size_t{kStubbornProcesses});
  EXPECT_EQ(family.has_cgroup(), GetParam() == Level::kCgroup);
  send_signal(family.agent, SIGKILL);
  family.expect_nothing_survives();
  const int status = family.guardian_status();
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL) << "the guardian ends as the agent ended";
}

TEST_P(ContainmentAtLevel, NothingSurvivesTheDeathOfTheGuardian) {
  if (!possible()) return;
  Family family(stubborn());
  family.wait_until_up();
  send_signal(family.guardian, SIGKILL);
  family.expect_nothing_survives();
}

TEST_P(ContainmentAtLevel, NothingSurvivesTheDeathOfTheParent) {
  if (!possible()) return;
  Family family(stubborn());
  family.wait_until_up();
  send_signal(family.parent, SIGKILL);
  family.expect_nothing_survives();
}

TEST_P(ContainmentAtLevel, NothingSurvivesTheDeathOfParentAndGuardian) {
  if (!possible()) return;
  Family family(stubborn());
  family.wait_until_up();
  send_signal(family.parent, SIGKILL);
  send_signal(family.guardian, SIGKILL);
  family.expect_nothing_survives();
}

TEST_P(ContainmentAtLevel, NothingSurvivesTheDeathOfTheParentWhereTheAgentHangs) {
  if (!possible()) return;
  Family family(stubborn());
  family.wait_until_up();
  send_signal(family.agent, SIGSTOP);
  send_signal(family.parent, SIGKILL);
  family.expect_nothing_survives();
}

// An agent that has nothing to do any more just ends; the cgroup must go all the same.
TEST_P(ContainmentAtLevel, AnIdleAgentWithoutAGuardianCleansUpAsItEnds) {
  // In a PID namespace nothing is left: the kernel kills agent and all.
  if (!possible() || GetParam() == Level::kPidNamespace) return;
  Setting setting = stubborn();
  setting.agent_body = [](Containment& contained) {
    const Containment last = std::move(contained);
    SpawnOptions user;
    user.argv = {"/bin/sleep", "1000"};
    last.confine(user);
    if (!spawn(user).ok()) return kAgentCannotSpawn;
    ::kill(::getppid(), SIGKILL);
    return wait_readable(last.guardian_gone_fd(), family_deadline()) ? 0 : 1;
  };
  // The parent gets the guardian's status; the agent's end is the end of the other pipe.
  Family family(setting);
  EXPECT_EQ(WTERMSIG(family.guardian_status()), SIGKILL);
  family.wait_for_end_of_output();
  EXPECT_FALSE(family.has_cgroup());
}

TEST_P(ContainmentAtLevel, NothingSurvivesTheDeathOfTheUsersProcess) {
  if (!possible()) return;
  Family family(stubborn());
  family.wait_until_up();
  send_signal(family.user_process(), SIGKILL);
  family.expect_nothing_survives();
  const int status = family.guardian_status();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGKILL);
}

TEST_P(ContainmentAtLevel, NothingSurvivesAnOrdinaryEnd) {
  if (!possible()) return;
  // Ends when its standard input does, which is /dev/null, after the others are up.
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);  // inherited by everyone down to the agent, but not by the user
  Setting setting = stubborn();
  setting.agent_body = [&](const Containment& contained) {
    SpawnOptions user;
    user.argv = {"/bin/sh", "-c", "(setsid sleep 1000 &) ; read line; exit 7"};
    user.environment = {"PATH=/usr/bin:/bin"};
    user.standard_input = gate[0];
    contained.confine(user);
    auto child = spawn(user);
    if (!child.ok() || ::write(gate[1], "go\n", 3) != 3) return kAgentCannotSpawn;
    const auto exit = child->wait(family_deadline());
    if (!exit.ok() || !contained.kill_all(family_deadline(), {}).ok()) return kAgentCannotKill;
    return contained.processes().empty() ? exit->code : kAgentCannotKill;
  };
  Family family(setting);
  const int status = family.guardian_status();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  ::close(gate[0]);
  ::close(gate[1]);
}

TEST_P(ContainmentAtLevel, AnUnprivilegedUserIsContainedToo) {
  if (!possible(true)) return;
  Setting setting = stubborn();
  setting.as_nobody = true;
  for (const bool kill_agent : {true, false}) {
    Family family(setting);
    family.wait_until_up();
    send_signal(kill_agent ? family.agent : family.guardian, SIGKILL);
    family.expect_nothing_survives();
  }
}

TEST_P(ContainmentAtLevel, ATaskOutlivesItsParentWhereItIsNotToDieWithIt) {
  if (!possible()) return;
  Setting setting = stubborn();
  setting.die_with_parent = false;
  Family family(setting);
  family.wait_until_up();
  const auto parent = ProcessHandle::open(family.parent);
  send_signal(family.parent, SIGKILL);
  ASSERT_TRUE(wait_readable(parent.end_fd(), family_deadline()));
  EXPECT_GE(family.marked_processes().size(), std::size_t{kStubbornProcesses});
  send_signal(family.guardian, SIGKILL);
  family.expect_nothing_survives();
}

TEST_P(ContainmentAtLevel, TheGuardianPassesSignalsOn) {
  if (!possible()) return;
  Family family(stubborn());
  family.wait_until_up();
  send_signal(family.guardian, SIGUSR1);
  family.expect_nothing_survives();
  const int status = family.guardian_status();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kAgentWasTold);
}

// When a process with threads is killed, its children get their signal as the first thread ends.
// The guardian passed that on to the agent, which then died before it had killed anything.
TEST_P(ContainmentAtLevel, TheEndOfAThreadOfTheParentIsNotItsEnd) {
  if (!possible()) return;
  int end[2];
  ASSERT_EQ(::pipe2(end, O_CLOEXEC), 0);
  const base::UniqueFd readable(end[0]);
  const base::UniqueFd writable(end[1]);
  Setting setting = stubborn();
  setting.thread_end_fd = readable.get();
  Family family(setting);
  family.wait_until_up();
  const std::size_t threads = threads_of(family.parent);
  ASSERT_EQ(::write(writable.get(), "x", 1), 1);
  const base::Instant deadline = family_deadline();
  while (threads_of(family.parent) == threads) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the parent's thread did not end";
  }
  send_signal(family.agent, SIGKILL);
  family.expect_nothing_survives();
  EXPECT_EQ(WTERMSIG(family.guardian_status()), SIGKILL) << "the agent had ended before";
}

// Keeps all processors busy.
class Load {
 public:
  Load() {
    const auto processors = ::sysconf(_SC_NPROCESSORS_ONLN);
    for (long i = 0; i < processors; ++i) {
      loops_.push_back(::fork());
      if (loops_.back() != 0) continue;
      ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0L, 0L, 0L);
      while (::getppid() != 0) continue;
    }
  }
  Load(const Load&) = delete;
  ~Load() {
    for (const pid_t loop : loops_) {
      ::kill(loop, SIGKILL);
      ::waitpid(loop, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> loops_;
};

// On a busy machine one that kills process by process is always a step behind such a chain.
TEST_P(ContainmentAtLevel, CatchesAProcessThatForksAndEndsAllTheTime) {
  if (!possible()) return;
  const Load load;
  for (const bool in_new_sessions : {false, true}) {
    Setting setting = stubborn();
    setting.agent_body = [in_new_sessions](const Containment& contained) {
      SpawnOptions confined;
      contained.confine(confined);
      const pid_t first = ::fork();
      if (first == 0) {
        ::setsid();
        if (confined.cgroup_procs_fd >= 0 && ::write(confined.cgroup_procs_fd, "0", 1) != 1) {
          return 1;
        }
        // Nobody else can catch it if the test is killed meanwhile.
        const base::Instant limit = family_deadline() + std::chrono::minutes(1);
        while (std::chrono::steady_clock::now() < limit) {
          if (::fork() > 0) ::_exit(0);
          if (in_new_sessions) ::setsid();
        }
        ::_exit(0);
      }
      ::waitpid(first, nullptr, 0);
      return contained.kill_all(family_deadline(), {}).ok() ? 0 : kAgentCannotKill;
    };
    Family family(setting);
    EXPECT_EQ(family.guardian_status(), 0);
    // The chain holds the pipe, too. It was left, with a busy machine: whoever of it was listed had
    // ended by the time of the look at it, so that nobody seemed to live.
    family.wait_for_end_of_output();
  }
}

TEST_P(ContainmentAtLevel, TellsItsProcessesAndKillsNobodyElse) {
  if (!possible()) return;
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    while (true) ::pause();
  }
  Setting setting = stubborn();
  setting.agent_body = [](const Containment& contained) {
    if (!contained.processes().empty()) return 1;
    SpawnOptions user;
    user.argv = {"/bin/sleep", "1000"};
    contained.confine(user);
    auto first = spawn(user);
    auto second = spawn(user);
    if (!first.ok() || !second.ok()) return 2;
    if (contained.processes().size() != 2) return 3;
    if (!contained.kill_all(family_deadline(), {first->pid()}).ok()) return 4;
    // The first was left for us to reap, the second was not.
    const auto exit = first->reap();
    if (!exit.ok() || !*exit || (**exit).signal != SIGKILL) return 5;
    if (second->reap().ok()) return 6;
    // Killing is not the end: the task may start again.
    auto third = spawn(user);
    if (!third.ok() || contained.processes().size() != 1) return 7;
    return contained.kill_all(family_deadline(), {}).ok() ? 0 : 8;
  };
  Family family(setting);
  EXPECT_EQ(family.guardian_status(), 0);
  EXPECT_EQ(::kill(stranger, 0), 0);
  EXPECT_EQ(::waitpid(stranger, nullptr, WNOHANG), 0) << "a stranger was killed";
  ::kill(stranger, SIGKILL);
  ::waitpid(stranger, nullptr, 0);
}

TEST_P(ContainmentAtLevel, LetsTheUserSeeOnlyWhatTheLevelSays) {
  if (!possible()) return;
  Setting setting = stubborn();
  const pid_t outside = ::getpid();
  setting.agent_body = [outside](const Containment& contained) {
    const auto self = read_stat(::getpid());
    if (!self || self->pid != ::getpid()) return 1;
    const bool init = ::getpid() == 1;
    if (init != (contained.level() == Level::kPidNamespace)) return 2;
    if (!init && ::kill(outside, 0) != 0) return 3;
    return init && all_processes().size() != 1 ? 4 : 0;
  };
  Family family(setting);
  EXPECT_EQ(family.guardian_status(), 0);
}

TEST_P(ContainmentAtLevel, TheGuardianHoldsNoDescriptorOfTheTask) {
  if (!possible()) return;
  Family family(stubborn());
  family.wait_until_up();
  int above_standard = 0;
  for (int fd = 3; fd < 64; ++fd) {
    struct stat info {};
    const std::string path = fmt::format("/proc/{}/fd/{}", family.guardian, fd);
    if (::lstat(path.c_str(), &info) == 0) ++above_standard;
  }
  EXPECT_EQ(above_standard, 1) << "the agent's pipe and nothing else";
  const auto stat = read_stat(family.guardian);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "gangrun-guard");
  send_signal(family.agent, SIGKILL);
  family.expect_nothing_survives();
}

TEST_P(ContainmentAtLevel, ALockIsHeldAsLongAsTheTaskLives) {
  if (!possible()) return;
  const std::string path = testing::TempDir() + "gangrun-lock-" + std::to_string(::getpid());
  const base::UniqueFd other(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  base::UniqueFd lock(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  base::UniqueFd given(::fcntl(lock.get(), F_DUPFD_CLOEXEC, 40));
  ::unlink(path.c_str());
  ASSERT_EQ(::flock(lock.get(), LOCK_EX | LOCK_NB), 0);
  Setting setting = stubborn();
  setting.die_with_parent = false;
  setting.lasting_fds = {given.get()};
  Family family(setting);
  lock.reset();
  given.reset();
  family.wait_until_up();
  send_signal(family.parent, SIGKILL);
  // Nobody but the guardian is left to hold it.
  send_signal(family.guardian, SIGSTOP);
  send_signal(family.agent, SIGKILL);
  EXPECT_NE(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  send_signal(family.guardian, SIGCONT);
  family.expect_nothing_survives();
  EXPECT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
}

TEST(Containment, GroupsThatTheUserMadeInItsCgroupAreKilledAndRemovedToo) {
  const bool possible = probe_level(Level::kCgroup).possible;
  Setting setting{.level = Level::kCgroup,
                  .die_with_parent = true,
                  .as_nobody = false,
                  .script = {},
                  .agent_body = {}};
  setting.agent_body = [](const Containment& contained) {
    SpawnOptions user;
    contained.confine(user);
    const std::string procs = fmt::format("/proc/self/fd/{}", user.cgroup_procs_fd);
    char target[4096];
    const ssize_t length = ::readlink(procs.c_str(), target, sizeof target);
    std::string folder(target, static_cast<std::size_t>(length));
    folder.resize(folder.rfind('/'));
    user.argv = {"/bin/sh", "-c",
                 fmt::format("mkdir -p {0}/a/b && echo $$ > {0}/a/b/cgroup.procs && "
                             "(setsid sleep 1000 &) && exit 5",
                             folder)};
    user.environment = {"PATH=/usr/bin:/bin"};
    auto child = spawn(user);
    if (!child.ok()) return kAgentCannotSpawn;
    const auto exit = child->wait(family_deadline());
    if (!exit.ok() || exit->code != 5) return kAgentCannotSpawn;
    return contained.processes().size() == 1 ? 0 : 1;  // the guardian kills it
  };
  Family family(setting);
  const int status = family.guardian_status();
  EXPECT_EQ(status, possible ? 0 : W_EXITCODE(kAgentCannotContain, 0));
  EXPECT_FALSE(family.has_cgroup());
}

}  // namespace
}  // namespace gangrun::process
