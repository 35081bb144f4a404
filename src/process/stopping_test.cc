#include "process/stopping.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace gangrun::process {
namespace {

// A process that leads a group and writes what it is told to a pipe: "t" for SIGTERM.
class Listener {
 public:
  Listener() {
    EXPECT_EQ(::pipe(pipe_.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) listen();
    ::close(pipe_[1]);
    EXPECT_EQ(heard(), 'r');
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(pipe_[0]);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Waits for the next letter.
  [[nodiscard]] char heard() const {
    char letter = 0;
    return ::read(pipe_[0], &letter, 1) == 1 ? letter : ' ';
  }
  // Of two signals the one with the lower number is taken first: SIGTERM before SIGWINCH.
  [[nodiscard]] bool has_heard_nothing() const {
    ::kill(pid_, SIGWINCH);
    return heard() == 'w';
  }

 private:
  [[noreturn]] void listen() const {
    ::setpgid(0, 0);
    sigset_t told;
    ::sigemptyset(&told);
    for (const int number : {SIGTERM, SIGWINCH}) ::sigaddset(&told, number);
    ::sigprocmask(SIG_BLOCK, &told, nullptr);
    char letter = 'r';
    for (int number = 0; ::write(pipe_[1], &letter, 1) == 1;) {
      if (::sigwait(&told, &number) != 0) break;
      letter = number == SIGTERM ? 't' : 'w';
    }
    ::_exit(1);
  }

  std::array<int, 2> pipe_{};
  pid_t pid_ = 0;
};

TEST(Stopping, TellsAGroupOnceHoweverOftenItIsAsked) {
  const Listener task;
  Stopping stopping;
  EXPECT_FALSE(stopping.has_begun());
  stopping.tell({task.pid()});
  EXPECT_TRUE(stopping.has_begun());
  EXPECT_EQ(task.heard(), 't');
  stopping.tell({task.pid()});
  EXPECT_TRUE(task.has_heard_nothing());
}

TEST(Stopping, TellsWhatIsLeftOnceAndNotAgainWhoWasInTheGroup) {
  const Listener task;
  const Listener daemon;
  Stopping stopping;
  stopping.tell({task.pid()});
  EXPECT_EQ(task.heard(), 't');
  stopping.tell_rest({task.pid(), daemon.pid()});
  EXPECT_EQ(daemon.heard(), 't');
  stopping.tell_rest({task.pid(), daemon.pid()});
  EXPECT_TRUE(task.has_heard_nothing());
  EXPECT_TRUE(daemon.has_heard_nothing());
}

}  // namespace
}  // namespace gangrun::process
