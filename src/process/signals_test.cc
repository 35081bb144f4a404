#include "process/signals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

namespace gangrun::process {
namespace {

bool contains(const std::vector<int>& signals, int number) {
  return std::find(signals.begin(), signals.end(), number) != signals.end();
}

// Tests every signal: which ones end a process that does nothing about it.
TEST(Signals, AllThatCanBeCaughtEndAJobOrAreANoticeOrAFault) {
  const std::vector<int> harmless{SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP,
                                  SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH};
  const std::vector<int> faults{SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};
  const std::vector<int> output{SIGPIPE, SIGXFSZ};
  for (int number = 1; number <= SIGRTMAX; ++number) {
    const bool is_glibcs_own = number > SIGSYS && number < SIGRTMIN;
    if (is_glibcs_own || number == SIGKILL) continue;
    const int kinds = contains(harmless, number) + contains(faults, number) +
                      contains(output, number) + contains(ending_signals(), number) +
                      contains(notice_signals(), number);
    EXPECT_EQ(kinds, 1) << number;
    EXPECT_EQ(is_notice(number), contains(notice_signals(), number)) << number;
  }
}

TEST(Signals, OutputThatCannotBeWrittenIsAnError) {
  const pid_t child = ::fork();
  if (child == 0) {
    survive_lost_output();
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) ::_exit(1);
    ::close(pipe[0]);
    if (::write(pipe[1], "x", 1) != -1 || errno != EPIPE) ::_exit(2);
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    char path[] = "/tmp/signals-test-XXXXXX";
    const int file = ::mkstemp(path);
    ::unlink(path);
    ::setrlimit(RLIMIT_FSIZE, &none);
    ::_exit(::write(file, "x", 1) == -1 && errno == EFBIG ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace gangrun::process
