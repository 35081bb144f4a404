#include "process/stopping.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string>
#include <vector>

#include "process/proc_fs.h"

namespace gangrun::process {
namespace {

// A process that leads a group, with a helper in it; each writes what it is told to a pipe: for
// SIGTERM "t" and the helper "T", for SIGWINCH "w" and "W".
class Program {
 public:
  Program() {
    EXPECT_EQ(::pipe(pipe_.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setpgid(0, 0);
      listen(::fork() == 0);
    }
    ::close(pipe_[1]);
    EXPECT_EQ(heard(2), "Rr");
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(pipe_[0]);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  // The next letters, sorted.
  [[nodiscard]] std::string heard(std::size_t count) const {
    std::string letters(count, ' ');
    for (char& letter : letters) {
      if (::read(pipe_[0], &letter, 1) != 1) return letters;
    }
    std::sort(letters.begin(), letters.end());
    return letters;
  }
  // The signal with the lower number is taken first: SIGTERM before SIGWINCH.
  [[nodiscard]] bool has_heard_nothing() const {
    ::kill(-pid_, SIGWINCH);
    return heard(2) == "Ww";
  }

 private:
  [[noreturn]] void listen(bool helps) const {
    sigset_t told;
    ::sigemptyset(&told);
    for (const int number : {SIGTERM, SIGWINCH}) ::sigaddset(&told, number);
    ::sigprocmask(SIG_BLOCK, &told, nullptr);
    char letter = helps ? 'R' : 'r';
    for (int number = 0; ::write(pipe_[1], &letter, 1) == 1;) {
      if (::sigwait(&told, &number) != 0) break;
      letter = number == SIGTERM ? (helps ? 'T' : 't') : (helps ? 'W' : 'w');
    }
    ::_exit(1);
  }

  std::array<int, 2> pipe_{};
  pid_t pid_ = 0;
};

constexpr Stopping::How kToGroup{.number = SIGTERM, .to_group = true};

TEST(Stopping, TellsAProgramOnceAndLeavesItsHelpersToIt) {
  const Program task;
  Stopping stopping({});
  EXPECT_FALSE(stopping.has_begun());
  stopping.tell({task.pid()});
  EXPECT_TRUE(stopping.has_begun());
  EXPECT_EQ(task.heard(1), "t");
  stopping.tell({task.pid()});
  EXPECT_TRUE(task.has_heard_nothing());
}

TEST(Stopping, TellsAllOfAGroupOnce) {
  const Program task;
  Stopping stopping(kToGroup);
  stopping.tell({task.pid()});
  EXPECT_EQ(task.heard(2), "Tt");
  stopping.tell({task.pid()});
  EXPECT_TRUE(task.has_heard_nothing());
}

TEST(Stopping, TellsOurOrphansOnceAndNotWhatTheyHaveStarted) {
  const Program task;
  const Program orphan;
  Stopping stopping({});
  stopping.tell({task.pid()});
  EXPECT_EQ(task.heard(1), "t");
  std::vector<pid_t> left = children_of(orphan.pid());
  left.push_back(orphan.pid());
  stopping.tell_rest(left);
  EXPECT_EQ(orphan.heard(1), "t");
  stopping.tell_rest(left);
  EXPECT_TRUE(task.has_heard_nothing());
  EXPECT_TRUE(orphan.has_heard_nothing());
}

TEST(Stopping, TellsOnceWhoHasLeftTheGroup) {
  const Program task;
  const Program daemon;
  Stopping stopping(kToGroup);
  stopping.tell({task.pid()});
  EXPECT_EQ(task.heard(2), "Tt");
  stopping.tell_rest({task.pid(), daemon.pid()});
  EXPECT_EQ(daemon.heard(1), "t");
  stopping.tell_rest({task.pid(), daemon.pid()});
  EXPECT_TRUE(task.has_heard_nothing());
  EXPECT_TRUE(daemon.has_heard_nothing());
}

// Which waits for it, and has a trap of its own.
TEST(Stopping, TellsWhatAShellRunsBesideTheShell) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t shell = ::fork();
  if (shell == 0) {
    ::setpgid(0, 0);
    ::dup2(pipe[1], STDOUT_FILENO);
    ::execl("/bin/sh", "sh", "-c",
            "sh -c 'trap \"echo t; exit\" TERM; echo r; while :; do read line; done' & "
            "trap : TERM; wait; wait",
            nullptr);
    ::_exit(127);
  }
  ::close(pipe[1]);
  const auto next_line = [&] {
    std::array<char, 2> line{};
    return ::read(pipe[0], line.data(), line.size()) == 2 ? line[0] : ' ';
  };
  EXPECT_EQ(next_line(), 'r');
  Stopping stopping({});
  stopping.tell({shell});
  EXPECT_EQ(next_line(), 't');
  ::kill(-shell, SIGKILL);
  ::waitpid(shell, nullptr, 0);
  ::close(pipe[0]);
}

}  // namespace
}  // namespace gangrun::process
