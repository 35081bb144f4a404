#include "process/proc_fs.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>

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

}  // namespace
}  // namespace gangrun::process
