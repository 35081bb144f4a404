#include "process/proc_fs.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>

#include "base/unique_fd.h"

namespace gangrun::process {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kStat =
    "4242 (a (b) c) S 17 4242 4200 0 -1 4194560 100 0 0 0 250 50 30 20 20 0 1 0 987654 12345678 "
    "321 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n";

TEST(ProcFs, ReadsAStatLineWhoseNameHasSpacesAndParentheses) {
  const auto stat = parse_stat(kStat, 100);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, 4242);
  EXPECT_EQ(stat->name, "a (b) c");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_TRUE(stat->alive());
  EXPECT_FALSE(stat->is_ending);
  EXPECT_EQ(stat->parent, 17);
  EXPECT_EQ(stat->group, 4242);
  EXPECT_EQ(stat->session, 4200);
  EXPECT_EQ(stat->cpu, milliseconds(3000));
  EXPECT_EQ(stat->children_cpu, milliseconds(500));
  EXPECT_EQ(stat->start_ticks, 987654U);
  EXPECT_EQ(stat->resident_pages, 321U);
}

TEST(ProcFs, RefusesEveryCutOfAStatLine) {
  const std::size_t fields_end = kStat.find(" 18446744073709551615");
  for (std::size_t length = 0; length < fields_end - 4; ++length) {
    EXPECT_FALSE(parse_stat(kStat.substr(0, length), 100)) << kStat.substr(0, length);
  }
  EXPECT_FALSE(parse_stat("x (y) S 1", 100));
  EXPECT_FALSE(parse_stat(kStat, 0));
}

TEST(ProcFs, TheInnermostNumberOfAProcessIsTheLast) {
  EXPECT_EQ(innermost_pid("Name:\tpython\nNSpid:\t4711\t12\t1\nNSpgid:\t4711\t9\n"), 1);
  EXPECT_EQ(innermost_pid("Name:\tpython\nNSpid:\t4711\n"), 4711);
  EXPECT_EQ(innermost_pid("Name:\tpython\nNSpid:\t4711\t12"), 12);
  // A process may be called so; and a kernel may tell none.
  EXPECT_EQ(innermost_pid("Name:\tNSpid: 5\nPid:\t7\n"), 0);
  EXPECT_EQ(innermost_pid("Name:\tpython\nNSpid:\t\nPid:\t7\n"), 0);
  EXPECT_EQ(innermost_pid(""), 0);
}

TEST(ProcFs, AStatusHasAValueForAKey) {
  constexpr std::string_view kStatus = "Name:\tSigCgt: 5\nSigCgt:\t0000000000000202\nSeccomp:\t";
  EXPECT_EQ(status_value(kStatus, "SigCgt"), "0000000000000202");
  EXPECT_EQ(status_value(kStatus, "Seccomp"), "");
  EXPECT_EQ(status_value(kStatus, "SigIgn"), "");
}

TEST(ProcFs, AZombieIsNotAlive) {
  ProcessStat stat;
  stat.state = 'Z';
  EXPECT_FALSE(stat.alive());
  stat.state = 'D';
  EXPECT_TRUE(stat.alive());
}

TEST(ProcFs, ReadsListsOfPids) {
  EXPECT_THAT(parse_pids("12 13 \n14\n"), ElementsAre(12, 13, 14));
  EXPECT_THAT(parse_pids(""), IsEmpty());
  EXPECT_THAT(parse_pids("12 x 14"), ElementsAre(12, 14));
}

TEST(ProcFs, FindsOwnStatAndOwnSockets) {
  const auto self = read_stat(::getpid());
  ASSERT_TRUE(self);
  EXPECT_EQ(self->pid, ::getpid());
  EXPECT_EQ(self->parent, ::getppid());
  EXPECT_FALSE(read_stat(-1));
  EXPECT_THAT(all_processes(), Contains(::getpid()));
  const auto before = socket_inodes(::getpid());
  const base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(socket_inodes(::getpid()).size(), before.size() + 1);
}

// A child that forks a grandchild; both block until they are killed.
TEST(ProcFs, FindsDescendantsBothWays) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const pid_t grandchild = ::fork();
    if (grandchild > 0 && ::write(ready[1], &grandchild, sizeof grandchild) < 0) ::_exit(1);
    while (true) ::pause();
  }
  pid_t grandchild = 0;
  ASSERT_EQ(::read(ready[0], &grandchild, sizeof grandchild), ssize_t{sizeof grandchild});
  EXPECT_THAT(children_of(::getpid()), Contains(child));
  EXPECT_THAT(children_of(::getpid()), Not(Contains(grandchild)));
  const auto listed = descendants_of(::getpid());
  const auto scanned = descendants_by_parents(::getpid());
  EXPECT_THAT(listed, ElementsAre(child, grandchild));
  EXPECT_THAT(scanned, ElementsAre(child, grandchild));
  EXPECT_TRUE(is_descendant(grandchild, ::getpid()));
  EXPECT_TRUE(is_descendant(grandchild, child));
  EXPECT_EQ(branch_of(grandchild, ::getpid()), child);
  EXPECT_EQ(branch_of(child, ::getpid()), child);
  EXPECT_EQ(branch_of(::getpid(), child), 0);
  EXPECT_FALSE(is_descendant(::getpid(), child));
  EXPECT_FALSE(is_descendant(1, ::getpid()));
  ::kill(grandchild, SIGKILL);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

// Some children that do nothing, so that a walk takes its time before it comes to the last.
class Siblings {
 public:
  Siblings() {
    for (pid_t& sibling : pids_) {
      sibling = ::fork();
      if (sibling == 0) {
        while (true) ::pause();
      }
    }
  }
  ~Siblings() {
    for (const pid_t sibling : pids_) {
      ::kill(sibling, SIGKILL);
      ::waitpid(sibling, nullptr, 0);
    }
  }
  Siblings(const Siblings&) = delete;
  Siblings& operator=(const Siblings&) = delete;

 private:
  std::array<pid_t, 60> pids_{};
};

TEST(ProcFs, AnOrphanIsFoundWhileItMovesUp) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L), 0);
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const Siblings siblings;
  for (const auto find : {descendants_of, descendants_by_parents}) {
    for (int round = 0; round < 12; ++round) {
      const pid_t child = ::fork();
      if (child == 0) {
        const pid_t below = ::fork();
        while (below == 0) ::pause();
        (void)!::write(pipe[1], &below, sizeof below);
        ::_exit(0);
      }
      pid_t orphan = 0;
      ASSERT_EQ(::read(pipe[0], &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
      EXPECT_THAT(find(::getpid()), Contains(orphan)) << "round " << round;
      ::kill(orphan, SIGKILL);
      EXPECT_EQ(::waitpid(child, nullptr, 0), child);
      EXPECT_EQ(::waitpid(orphan, nullptr, 0), orphan);
    }
  }
  ::close(pipe[0]);
  ::close(pipe[1]);
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 0L, 0L, 0L, 0L), 0);
}

TEST(ProcFs, WithoutAChildThereAreNoDescendants) {
  EXPECT_TRUE(descendants_of(::getpid()).empty());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_THAT(descendants_of(::getpid()), ElementsAre(child)) << "one that has ended is there";
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(descendants_of(::getpid()).empty());
}

TEST(ProcFs, ClosesDescriptorsOfARange) {
  std::vector<int> fds;
  for (int number = 200; number < 204; ++number) {
    fds.push_back(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, number));
  }
  close_descriptors(fds[1], fds[2]);
  close_descriptors(fds[3], fds[0]);
  const auto open = open_descriptors();
  EXPECT_THAT(open, Contains(fds[0]));
  EXPECT_THAT(open, Not(Contains(fds[1])));
  EXPECT_THAT(open, Not(Contains(fds[2])));
  EXPECT_THAT(open, Contains(fds[3]));
  ::close(fds[0]);
  ::close(fds[3]);
}

TEST(Usage, CountsNothingForNobody) {
  EXPECT_EQ(usage_of({}).memory_bytes, 0U);
  EXPECT_EQ(usage_of({-1}).cpu_seconds, 0.0);
}

// A child that holds memory and has used CPU time, in itself and in a child that it has reaped.
TEST(Usage, CountsMemoryAndTimeOfAProcessAndOfTheChildrenItReaped) {
  constexpr std::size_t kBytes = std::size_t{32} << 20U;
  constexpr clock_t kBurn = CLOCKS_PER_SEC / 5;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    void* memory =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) std::memset(memory, 1, kBytes);
    const auto burn = [] {
      const clock_t begin = std::clock();
      while (std::clock() - begin < kBurn) {
      }
    };
    const pid_t grandchild = ::fork();
    burn();
    if (grandchild == 0) ::_exit(0);
    ::waitpid(grandchild, nullptr, 0);
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const Usage usage = usage_of({child});
  EXPECT_GE(usage.memory_bytes, kBytes);
  EXPECT_GE(usage.cpu_seconds, 0.35) << "0.2 s of its own and 0.2 s of its child";
  const Usage both = usage_of({child, ::getpid()});
  EXPECT_GT(both.memory_bytes, usage.memory_bytes);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(usage_of({child}).memory_bytes, 0U);
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace
}  // namespace gangrun::process
