#include "process/containment.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>

#include "base/files.h"
#include "base/format.h"
#include "process/proc_fs.h"
#include "process/wait_for.h"

namespace gangrun::process {
namespace {

using std::chrono::seconds;
using testing::IsEmpty;
using testing::Not;

constexpr int kAgentCannotContain = 90;
constexpr int kAgentCannotSpawn = 91;
constexpr int kAgentCannotKill = 92;
constexpr int kAgentWasTold = 33;
constexpr uid_t kNobody = 65534;

base::Instant soon() { return std::chrono::steady_clock::now() + seconds(30); }

// A user's process as bad as they come: a daemon that forked twice and has its own session, a child
// in the background, and itself, all deaf to SIGTERM. Each writes a line when it is there.
constexpr std::string_view kStubborn =
    "trap '' TERM HUP INT\n"
    "setsid sh -c '(echo r >&3; exec sleep 1000) &' &\n"
    "(echo r >&3; exec sleep 1000) &\n"
    "echo r >&3\n";
constexpr int kStubbornProcesses = 3;

std::string stubborn_then(const std::string& end) { return std::string(kStubborn) + end; }

// What the parent (the master's place) is told to do differently.
struct Setting {
  Level level = Level::kSubreaper;
  bool die_with_parent = true;
  bool as_nobody = false;
  std::string script;
  // Instead of the script: run in the agent, for tests that need more than a shell.
  std::function<int(const Containment&)> agent_body;
};

std::string unique_name(const char* what) {
  static int count = 0;
  return fmt::format("test-{}-{}-{}", what, ::getpid(), ++count);
}

[[noreturn]] void be_agent(const Setting& setting, const std::string& mark, int ready) {
  ContainOptions options{
      .level = setting.level, .name = mark, .die_with_parent = setting.die_with_parent};
  ::signal(SIGUSR1, [](int) { ::_exit(kAgentWasTold); });
  const auto contained = contain(options);
  if (!contained.ok()) ::_exit(kAgentCannotContain);
  if (setting.agent_body) ::_exit(setting.agent_body(*contained));
  SpawnOptions user;
  user.argv = {"/bin/sh", "-c", setting.script};
  user.environment = {"PATH=/usr/bin:/bin", "GANGRUN_TEST_MARK=" + mark};
  user.inherited = {{.fd = ready, .as = 3}};
  contained->confine(user);
  auto child = spawn(user);
  if (!child.ok()) ::_exit(kAgentCannotSpawn);
  ::close(ready);
  wait_any_readable({contained->guardian_gone_fd(), child->pidfd()}, soon());
  contained->reap_orphans({child->pid()});
  if (!contained->kill_all(soon(), {child->pid()}).ok()) ::_exit(kAgentCannotKill);
  const auto exit = child->wait(soon());
  ::_exit(exit.ok() ? exit->shell_status() : kAgentCannotKill);
}

// Parent, guardian, agent and user's processes of one task, seen from outside.
class Family {
 public:
  explicit Family(Setting setting) : mark_(unique_name("family")) {
    int ready[2];
    int status[2];
    EXPECT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(status, O_CLOEXEC), 0);
    parent = ::fork();
    if (parent == 0) be_parent(setting, ready[1], status[1]);
    ::close(ready[1]);
    ::close(status[1]);
    ready_.reset(ready[0]);
    status_.reset(status[0]);
  }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  ~Family() {
    // Not the guardian too: who kills both at once has to look after the rest.
    if (agent > 0 && !wait_readable(agent_fd_.get(), std::chrono::steady_clock::now())) {
      ::kill(agent, SIGKILL);
    }
    if (guardian > 0) wait_readable(guardian_fd_.get(), soon());
    if (parent > 0) {
      ::kill(parent, SIGKILL);
      ::waitpid(parent, nullptr, 0);
    }
  }

  // Until every one of the user's processes has said that it is there.
  void wait_until_up(int processes = kStubbornProcesses) {
    for (int lines = 0; lines < processes;) {
      ASSERT_TRUE(wait_readable(ready_.get(), soon())) << "the user's processes did not start";
      char bytes[16];
      const ssize_t got = ::read(ready_.get(), bytes, sizeof bytes);
      ASSERT_GT(got, 0) << "the task ended before it was up";
      for (ssize_t i = 0; i < got; ++i) lines += bytes[i] == '\n' ? 1 : 0;
    }
    guardian = only_child_of(parent);
    agent = only_child_of(guardian);
    guardian_fd_ = open_pidfd(guardian);
    agent_fd_ = open_pidfd(agent);
  }

  // Guardian and agent are gone, and so is everything that the user's process started. All of
  // the latter hold the pipe's other end, so that its end of file is the death of the last.
  void expect_nothing_survives() {
    EXPECT_TRUE(wait_readable(guardian_fd_.get(), soon())) << "the guardian lives";
    EXPECT_TRUE(wait_readable(agent_fd_.get(), soon())) << "the agent lives";
    char byte = 0;
    ssize_t got = 1;
    while (got > 0 && wait_readable(ready_.get(), soon())) got = ::read(ready_.get(), &byte, 1);
    EXPECT_EQ(got, 0) << "somebody holds the pipe";
    EXPECT_THAT(marked_processes(), IsEmpty());
    EXPECT_FALSE(has_cgroup()) << "the cgroup was not removed";
  }

  bool has_cgroup() const {
    const auto own = own_cgroup_folder();
    if (!own.ok()) return false;
    for (const auto& entry : std::filesystem::directory_iterator(*own)) {
      const std::string name = entry.path().filename();
      if (name.starts_with(fmt::format("gangrun-{}.", mark_))) return true;
    }
    return false;
  }

  // The wait status of the guardian, as the parent got it.
  int guardian_status() {
    int status = -1;
    EXPECT_TRUE(wait_readable(status_.get(), soon()));
    EXPECT_EQ(::read(status_.get(), &status, sizeof status), ssize_t{sizeof status});
    return status;
  }

  std::vector<pid_t> marked_processes() const {
    std::vector<pid_t> found;
    for (const pid_t pid : all_processes()) {
      const auto environment = base::read_file(fmt::format("/proc/{}/environ", pid), 1U << 20U);
      if (environment.ok() &&
          environment->find("GANGRUN_TEST_MARK=" + mark_) != std::string::npos) {
        found.push_back(pid);
      }
    }
    return found;
  }

  // The process of the user's that the agent started.
  pid_t user_process() const { return only_shell_of(agent); }

  pid_t parent = 0;
  pid_t guardian = 0;
  pid_t agent = 0;

 private:
  [[noreturn]] void be_parent(const Setting& setting, int ready, int status) const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0L, 0L, 0L);
    if (setting.as_nobody) {
      if (::setresgid(kNobody, kNobody, kNobody) != 0) ::_exit(1);
      if (::setresuid(kNobody, kNobody, kNobody) != 0) ::_exit(1);
      ::prctl(PR_SET_DUMPABLE, 1L, 0L, 0L, 0L);
    }
    const pid_t child = ::fork();
    if (child == 0) be_agent(setting, mark_, ready);
    ::close(ready);
    int ended = 0;
    ::waitpid(child, &ended, 0);
    ::_exit(::write(status, &ended, sizeof ended) == sizeof ended ? 0 : 1);
  }

  static pid_t only_child_of(pid_t pid) {
    const auto children = children_of(pid);
    EXPECT_EQ(children.size(), 1U);
    return children.empty() ? 0 : children.front();
  }

  static pid_t only_shell_of(pid_t pid) {
    for (const pid_t child : children_of(pid)) {
      const auto stat = read_stat(child);
      if (stat && stat->name == "sh" && stat->group == child) return child;
    }
    ADD_FAILURE() << "the agent has no shell";
    return 0;
  }

  std::string mark_;
  base::UniqueFd ready_;
  base::UniqueFd status_;
  base::UniqueFd guardian_fd_;
  base::UniqueFd agent_fd_;
};

class ContainmentAtLevel : public testing::TestWithParam<Level> {
 protected:
  // Where the host does not permit the level, the attempt must fail and say so; there is no more to
  // see then.
  bool possible(bool as_nobody = false) {
    if (!as_nobody && probe_levels().of(GetParam()).possible) return true;
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
  ::kill(family.agent, SIGKILL);
  family.expect_nothing_survives();
  const int status = family.guardian_status();
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL) << "the guardian ends as the agent ended";
}

TEST_P(ContainmentAtLevel, NothingSurvivesTheDeathOfTheGuardian) {
  if (!possible()) return;
  Family family(stubborn());
  family.wait_until_up();
  ::kill(family.guardian, SIGKILL);
  family.expect_nothing_survives();
}

TEST_P(ContainmentAtLevel, NothingSurvivesTheDeathOfTheParent) {
  if (!possible()) return;
  Family family(stubborn());
  family.wait_until_up();
  ::kill(family.parent, SIGKILL);
  family.expect_nothing_survives();
}

TEST_P(ContainmentAtLevel, NothingSurvivesTheDeathOfParentAndGuardian) {
  if (!possible()) return;
  Family family(stubborn());
  family.wait_until_up();
  ::kill(family.parent, SIGKILL);
  ::kill(family.guardian, SIGKILL);
  family.expect_nothing_survives();
}

TEST_P(ContainmentAtLevel, NothingSurvivesTheDeathOfTheParentWhereTheAgentHangs) {
  if (!possible()) return;
  Family family(stubborn());
  family.wait_until_up();
  ::kill(family.agent, SIGSTOP);
  ::kill(family.parent, SIGKILL);
  family.expect_nothing_survives();
}

TEST_P(ContainmentAtLevel, NothingSurvivesTheDeathOfTheUsersProcess) {
  if (!possible()) return;
  Family family(stubborn());
  family.wait_until_up();
  ::kill(family.user_process(), SIGKILL);
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
    const auto exit = child->wait(soon());
    if (!exit.ok() || !contained.kill_all(soon(), {}).ok()) return kAgentCannotKill;
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
    ::kill(kill_agent ? family.agent : family.guardian, SIGKILL);
    family.expect_nothing_survives();
  }
}

TEST_P(ContainmentAtLevel, ATaskOutlivesItsParentWhereItIsNotToDieWithIt) {
  if (!possible()) return;
  Setting setting = stubborn();
  setting.die_with_parent = false;
  Family family(setting);
  family.wait_until_up();
  const base::UniqueFd parent = open_pidfd(family.parent);
  ::kill(family.parent, SIGKILL);
  ASSERT_TRUE(wait_readable(parent.get(), soon()));
  EXPECT_GE(family.marked_processes().size(), std::size_t{kStubbornProcesses});
  ::kill(family.guardian, SIGKILL);
  family.expect_nothing_survives();
}

TEST_P(ContainmentAtLevel, TheGuardianPassesSignalsOn) {
  if (!possible()) return;
  Family family(stubborn());
  family.wait_until_up();
  ::kill(family.guardian, SIGUSR1);
  family.expect_nothing_survives();
  const int status = family.guardian_status();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kAgentWasTold);
}

TEST_P(ContainmentAtLevel, CatchesAProcessThatForksAndEndsAllTheTime) {
  if (!possible()) return;
  Setting setting = stubborn();
  setting.agent_body = [](const Containment& contained) {
    SpawnOptions confined;
    contained.confine(confined);
    const pid_t first = ::fork();
    if (first == 0) {
      ::setsid();
      if (confined.cgroup_procs_fd >= 0 && ::write(confined.cgroup_procs_fd, "0", 1) != 1) return 1;
      while (true) {
        if (::fork() > 0) ::_exit(0);
      }
    }
    ::waitpid(first, nullptr, 0);
    return contained.kill_all(soon(), {}).ok() ? 0 : kAgentCannotKill;
  };
  Family family(setting);
  EXPECT_EQ(family.guardian_status(), 0);
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
    if (!contained.kill_all(soon(), {first->pid()}).ok()) return 4;
    // The first was left for us to reap, the second was not.
    const auto exit = first->reap();
    if (!exit.ok() || !*exit || (**exit).signal != SIGKILL) return 5;
    if (second->reap().ok()) return 6;
    // Killing is not the end: the task may start again.
    auto third = spawn(user);
    if (!third.ok() || contained.processes().size() != 1) return 7;
    return contained.kill_all(soon(), {}).ok() ? 0 : 8;
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
  ::kill(family.agent, SIGKILL);
  family.expect_nothing_survives();
}

TEST(Containment, GroupsThatTheUserMadeInItsCgroupAreKilledAndRemovedToo) {
  const bool possible = probe_levels().cgroup.possible;
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
    const auto exit = child->wait(soon());
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
