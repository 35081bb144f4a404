#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "process/containment.h"
#include "process/proc_fs.h"
#include "process/wait_for.h"

// A whole task as tests of containment see it.
namespace gangrun::process {

inline constexpr int kAgentCannotContain = 90;
inline constexpr int kAgentCannotSpawn = 91;
inline constexpr int kAgentCannotKill = 92;
inline constexpr int kAgentWasTold = 33;
inline constexpr uid_t kNobody = 65534;

inline base::Instant family_deadline() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(30);
}

// A user's process as bad as they come: a daemon that forked twice and has its own session, a child
// in the background, and itself, all deaf to SIGTERM. Each writes a line when it is there.
inline constexpr std::string_view kStubborn =
    "trap '' TERM HUP INT\n"
    "setsid sh -c '(echo r >&3; exec sleep 1000) &' &\n"
    "(echo r >&3; exec sleep 1000) &\n"
    "echo r >&3\n";
inline constexpr int kStubbornProcesses = 3;

inline std::string stubborn_then(const std::string& end) { return std::string(kStubborn) + end; }

// The differences in what the parent (the master's place) does.
struct Setting {
  Level level = Level::kSubreaper;
  bool die_with_parent = true;
  bool as_nobody = false;
  std::string script;
  // Instead of the script: run in the agent, for tests that need more than a shell.
  std::function<int(Containment&)> agent_body{};
  // Descriptors of the parent, for guardian and agent; others are closed in the guardian.
  std::vector<int> lasting_fds{};
  // A descriptor of the parent, which then starts the task in a thread that ends when it can be
  // read.
  int thread_end_fd = -1;
};

inline std::string unique_name(const char* what) {
  static int count = 0;
  return fmt::format("test-{}-{}-{}", what, ::getpid(), ++count);
}

[[noreturn]] inline void be_agent(const Setting& setting, const std::string& mark, int ready) {
  const ContainOptions options{.level = setting.level,
                               .name = mark,
                               .die_with_parent = setting.die_with_parent,
                               .lasting_fds = setting.lasting_fds};
  sigset_t told;
  ::sigemptyset(&told);
  ::sigaddset(&told, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &told, nullptr);
  auto contained = contain(options);
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
  const base::UniqueFd told_fd(::signalfd(-1, &told, SFD_CLOEXEC));
  wait_any_readable({contained->guardian_gone_fd(), child->end_fd(), told_fd.get()},
                    family_deadline());
  if (wait_readable(told_fd.get(), std::chrono::steady_clock::now())) ::_exit(kAgentWasTold);
  contained->reap_orphans({child->pid()});
  if (!contained->kill_all(family_deadline(), {child->pid()}).ok()) ::_exit(kAgentCannotKill);
  const auto exit = child->wait(family_deadline());
  ::_exit(exit.ok() ? exit->shell_status() : kAgentCannotKill);
}

// A process of a family that is not up has no number: 0 would be our own group.
inline void send_signal(pid_t process, int signal) {
  ASSERT_GT(process, 0) << "the family is not up";
  ::kill(process, signal);
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
    if (agent > 0 && !wait_readable(agent_.end_fd(), std::chrono::steady_clock::now())) {
      ::kill(agent, SIGKILL);
    }
    if (guardian > 0) wait_readable(guardian_.end_fd(), family_deadline());
    if (parent > 0) {
      ::kill(parent, SIGKILL);
      ::waitpid(parent, nullptr, 0);
    }
  }

  // Until every one of the user's processes has said that it is there.
  void wait_until_up(int processes = kStubbornProcesses) {
    for (int lines = 0; lines < processes;) {
      ASSERT_TRUE(wait_readable(ready_.get(), family_deadline()))
          << "the user's processes did not start";
      char bytes[16];
      const ssize_t got = ::read(ready_.get(), bytes, sizeof bytes);
      ASSERT_GT(got, 0) << "the task ended before it was up";
      for (ssize_t i = 0; i < got; ++i) lines += bytes[i] == '\n' ? 1 : 0;
    }
    guardian = only_child_of(parent);
    agent = only_child_of(guardian);
    guardian_ = ProcessHandle::open(guardian);
    agent_ = ProcessHandle::open(agent);
  }

  // Guardian and agent are gone, and so is everything that the user's process started. All of
  // the latter hold the pipe's other end, so that its end of file is the death of the last.
  void expect_nothing_survives() {
    EXPECT_TRUE(wait_readable(guardian_.end_fd(), family_deadline())) << "the guardian lives";
    EXPECT_TRUE(wait_readable(agent_.end_fd(), family_deadline())) << "the agent lives";
    wait_for_end_of_output();
    EXPECT_THAT(marked_processes(), testing::IsEmpty());
    EXPECT_FALSE(has_cgroup()) << "the cgroup was not removed";
  }

  void wait_for_end_of_output() const {
    char byte = 0;
    ssize_t got = 1;
    while (got > 0 && wait_readable(ready_.get(), family_deadline()))
      got = ::read(ready_.get(), &byte, 1);
    EXPECT_EQ(got, 0) << "somebody holds the pipe";
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
    const bool is_told = wait_readable(status_.get(), family_deadline());
    EXPECT_TRUE(is_told) << "the guardian did not end";
    if (!is_told) return status;
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
    pid_t child = 0;
    const auto start = [&] {
      child = ::fork();
      if (child == 0) be_agent(setting, mark_, ready);
    };
    if (setting.thread_end_fd < 0) {
      start();
    } else {
      std::thread([&] {
        start();
        wait_readable(setting.thread_end_fd, family_deadline());
      }).join();
    }
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
  ProcessHandle guardian_;
  ProcessHandle agent_;
};

}  // namespace gangrun::process
