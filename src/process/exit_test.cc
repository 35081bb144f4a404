#include "process/exit.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <csignal>

namespace gangrun::process {
namespace {

using std::chrono::milliseconds;

TEST(Exit, SaysInWordsHowAProcessEnded) {
  Exit exit;
  EXPECT_EQ(exit.to_words(), "exited with status 0");
  EXPECT_TRUE(exit.succeeded());
  exit.code = 3;
  EXPECT_EQ(exit.to_words(), "exited with status 3");
  EXPECT_FALSE(exit.succeeded());
  EXPECT_EQ(exit.shell_status(), 3);
  exit.kind = Exit::Kind::kSignaled;
  exit.signal = SIGSEGV;
  EXPECT_EQ(exit.to_words(), "was killed by signal 11 (segmentation fault)");
  EXPECT_EQ(exit.shell_status(), 139);
  exit.core_dumped = true;
  EXPECT_EQ(exit.to_words(), "was killed by signal 11 (segmentation fault, core dumped)");
  exit = Exit{.kind = Exit::Kind::kSignaled, .signal = SIGKILL, .out_of_memory = true};
  EXPECT_EQ(exit.to_words(), "was killed by signal 9 (out of memory)");
  EXPECT_FALSE(exit.succeeded());
}

TEST(Exit, ReadsAWaitStatus) {
  rusage usage{};
  usage.ru_utime = {.tv_sec = 1, .tv_usec = 500'000};
  usage.ru_stime = {.tv_sec = 0, .tv_usec = 250'000};
  usage.ru_maxrss = 2048;
  const Exit exited = exit_from_wait(W_EXITCODE(7, 0), usage);
  EXPECT_EQ(exited.kind, Exit::Kind::kExited);
  EXPECT_EQ(exited.code, 7);
  EXPECT_EQ(exited.user_cpu, milliseconds(1500));
  EXPECT_EQ(exited.system_cpu, milliseconds(250));
  EXPECT_EQ(exited.max_rss_bytes, 2U << 20U);
  const Exit killed = exit_from_wait(W_EXITCODE(0, SIGABRT) | WCOREFLAG, usage);
  EXPECT_EQ(killed.kind, Exit::Kind::kSignaled);
  EXPECT_EQ(killed.signal, SIGABRT);
  EXPECT_TRUE(killed.core_dumped);
}

}  // namespace
}  // namespace gangrun::process
