#include "process/signal_catchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <vector>

namespace gangrun::process {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kStatus =
    "Name:\tpython3\nUmask:\t0022\nSigIgn:\t0000000001001000\nSigCgt:\t0000000000000202\nSeccomp:"
    "\t0\n";

TEST(SignalCatchers, TheHandledSignalsAreThoseOfTheMask) {
  EXPECT_TRUE(catches_signal(kStatus, SIGUSR1));
  EXPECT_TRUE(catches_signal(kStatus, SIGINT));
  EXPECT_FALSE(catches_signal(kStatus, SIGTERM));
  EXPECT_FALSE(catches_signal(kStatus, SIGUSR2));
}

TEST(SignalCatchers, WhatIsNoMaskIsNone) {
  EXPECT_FALSE(catches_signal("", SIGUSR1));
  EXPECT_FALSE(catches_signal("Name:\tx\nSigIgn:\t0000000000400000\n", SIGURG));
  EXPECT_FALSE(catches_signal("Name:\tx\nSigCgt:\t", SIGUSR1));
  EXPECT_FALSE(catches_signal("Name:\tx\nSigCgt:\t12zz\n", SIGUSR1));
  EXPECT_FALSE(catches_signal("Name:\tx\nSigCgt:\tffffffffffffffff\n", 0));
  EXPECT_FALSE(catches_signal("Name:\tx\nSigCgt:\tffffffffffffffff\n", 65));
}

void ignore_it(int) {}

// A parent that was gone before the request sends no signal.
void end_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
}

// A process that has said "ready" runs until it is killed.
class Waiting {
 public:
  explicit Waiting(const std::function<void()>& prepare) {
    std::array<int, 2> ready{};
    if (::pipe(ready.data()) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      prepare();
      if (::write(ready[1], "r", 1) == 1) ::pause();
      ::_exit(0);
    }
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

TEST(SignalCatchers, AProcessWithoutAHandlerIsSpared) {
  const Waiting plain([] { std::signal(SIGUSR1, SIG_DFL); });
  const Waiting deaf([] { std::signal(SIGUSR1, SIG_IGN); });
  const Waiting ready([] { std::signal(SIGUSR1, ignore_it); });
  EXPECT_THAT(signal_catchers({plain.pid(), deaf.pid(), ready.pid()}, SIGUSR1),
              ElementsAre(ready.pid()));
  EXPECT_THAT(signal_catchers({plain.pid()}, SIGUSR1), IsEmpty());
}

TEST(SignalCatchers, BehindAShellItIsTheProgramAndNotItsHelpers) {
  std::array<int, 2> pids{};
  ASSERT_EQ(::pipe(pids.data()), 0);
  // Its child catches the signal, and so does the child's own.
  const Waiting shell([&] {
    std::signal(SIGUSR1, SIG_DFL);
    const pid_t own = ::getpid();
    const pid_t program = ::fork();
    if (program != 0) {
      (void)!::write(pids[1], &program, sizeof(program));
      return;
    }
    end_with_parent(own);
    std::signal(SIGUSR1, ignore_it);
    const pid_t parent = ::getpid();
    if (::fork() == 0) end_with_parent(parent);
    for (;;) ::pause();
  });
  pid_t program = 0;
  ASSERT_EQ(::read(pids[0], &program, sizeof(program)), static_cast<ssize_t>(sizeof(program)));
  std::vector<pid_t> found;
  while (found.empty()) found = signal_catchers({shell.pid()}, SIGUSR1);
  EXPECT_THAT(found, ElementsAre(program));
}

}  // namespace
}  // namespace gangrun::process
