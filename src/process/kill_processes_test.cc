#include "process/kill_processes.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <limits>
#include <utility>

#include "base/format.h"
#include "base/test_deadline.h"
#include "process/guardian.h"
#include "process/proc_fs.h"
#include "process/wait_for.h"

namespace gangrun::process {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

pid_t waiting_child() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    while (true) ::pause();
  }
  return pid;
}

Victims these(const std::vector<pid_t>& pids) {
  return {.list = [pids] { return pids; },
          .kill_whole = {},
          .is_victim =
              [pids](pid_t pid) { return std::find(pids.begin(), pids.end(), pid) != pids.end(); }};
}

TEST(KillProcesses, KillsManyMoreThanItCanWatchAtOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 300; ++i) children.push_back(waiting_child());
  EXPECT_EQ(living(children).size(), children.size());
  const auto killed = kill_processes(these(children), {}, base::soon());
  EXPECT_TRUE(killed.ok());
  EXPECT_THAT(living(children), IsEmpty());
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "they were not reaped";
}

TEST(KillProcesses, NamesSurvivorsAtTheDeadline) {
  const pid_t child = waiting_child();
  Victims victims = these({child});
  victims.is_victim = [](pid_t) { return false; };
  const auto killed =
      kill_processes(victims, {}, std::chrono::steady_clock::now() + milliseconds(30));
  ASSERT_FALSE(killed.ok());
  EXPECT_EQ(killed.error().code, base::Code::kDeadlineExceeded);
  EXPECT_THAT(killed.error().message, HasSubstr(fmt::format("{} (process_test", child)));
  EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "who is not a victim is not killed";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

// A chain of them was left with a busy machine: whoever was listed had ended by the time of the
// look at it.
TEST(KillProcesses, WhoHasJustEndedMayHaveForkedBefore) {
  const pid_t ended = ::fork();
  if (ended == 0) ::_exit(0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(ended), &info, WEXITED | WNOWAIT), 0);
  const pid_t child = waiting_child();
  Victims victims = these({child});
  bool is_first = true;
  victims.list = [&] { return std::vector{std::exchange(is_first, false) ? ended : child}; };
  EXPECT_TRUE(kill_processes(victims, {}, base::soon()).ok());
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "the child lives, or was not reaped";
}

TEST(KillProcesses, SaysThatAChainOfProcessesIsNotCaught) {
  pid_t next = std::numeric_limits<pid_t>::max();  // no kernel has so many
  Victims victims = these({});
  victims.list = [&next] { return std::vector{--next}; };
  const auto killed =
      kill_processes(victims, {}, std::chrono::steady_clock::now() + milliseconds(5));
  ASSERT_FALSE(killed.ok());
  EXPECT_EQ(killed.error().code, base::Code::kDeadlineExceeded);
  EXPECT_THAT(killed.error().message, HasSubstr("fork and end all the time"));
}

TEST(KillProcesses, AProcessThatIsNoDescendantIsNoVictim) {
  const std::optional<TaskCgroup> no_cgroup;
  const pid_t child = waiting_child();
  const Victims victims = victims_of(Level::kSubreaper, no_cgroup, ::getpid());
  EXPECT_THAT(victims.list(), ElementsAre(child));
  EXPECT_TRUE(victims.is_victim(child));
  EXPECT_FALSE(victims.is_victim(::getppid()));
  EXPECT_FALSE(victims.is_victim(1));
  EXPECT_FALSE(victims.is_victim(::getpid()));
  EXPECT_TRUE(kill_processes(victims, {}, base::soon()).ok());
}

TEST(KillProcesses, ReapsOrphansButNotOwnChildrenThatHideThem) {
  // The own child ends first, so that it is the first that the kernel tells of.
  const auto ended = [](int code) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(code);
    siginfo_t info{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
    return pid;
  };
  const pid_t own = ended(3);
  const pid_t orphan = ended(4);
  reap_orphans({own});
  EXPECT_THAT(children_of(::getpid()), ElementsAre(own));
  int status = 0;
  EXPECT_EQ(::waitpid(own, &status, WNOHANG), own);
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(::waitpid(orphan, nullptr, WNOHANG), -1);
}

TEST(KillProcesses, AZombieIsNotLiving) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_THAT(living({pid, ::getpid()}), ElementsAre(::getpid()));
  EXPECT_TRUE(read_stat(pid)->is_ending);
  EXPECT_FALSE(read_stat(::getpid())->is_ending);
  ::waitpid(pid, nullptr, 0);
  EXPECT_THAT(living({pid}), IsEmpty());
}

TEST(WaitFor, LooksOnceAtAPastDeadlineAndNoticesAnEnd) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const base::UniqueFd read(ends[0]);
  base::UniqueFd write(ends[1]);
  EXPECT_FALSE(wait_readable(read.get(), std::chrono::steady_clock::now()));
  EXPECT_FALSE(wait_readable(read.get(), std::chrono::steady_clock::now() + milliseconds(5)));
  write.reset();
  EXPECT_TRUE(wait_readable(read.get(), std::chrono::steady_clock::now() - seconds(1)));
  EXPECT_TRUE(wait_any_readable({read.get()}, base::soon()));
  EXPECT_FALSE(ProcessHandle::open(-1).valid());
}

}  // namespace
}  // namespace gangrun::process
