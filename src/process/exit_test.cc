#include "process/exit.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <csignal>

namespace gangrun::process {
namespace {

TEST(Exit, SaysInWordsHowAProcessEnded) {
  Exit exit;
  EXPECT_EQ(exit.to_words(), "exited with status 0");
  EXPECT_TRUE(exit.succeeded());
  exit.code = 3;
  EXPECT_EQ(exit.to_words(), "exited with status 3");
  EXPECT_FALSE(exit.succeeded());
  EXPECT_EQ(exit.shell_status(), 3);
  exit.code = 0;
  exit.signal = SIGSEGV;
  EXPECT_EQ(exit.to_words(), "was killed by signal 11 (segmentation fault)");
  EXPECT_EQ(exit.shell_status(), 139);
  exit.core_dumped = true;
  EXPECT_EQ(exit.to_words(), "was killed by signal 11 (segmentation fault, core dumped)");
  exit = Exit{.signal = SIGKILL, .out_of_memory = true};
  EXPECT_EQ(exit.to_words(), "was killed by signal 9 (out of memory)");
  EXPECT_FALSE(exit.succeeded());
}

TEST(Exit, ReadsAWaitStatus) {
  const Exit exited = exit_from_wait(W_EXITCODE(7, 0));
  EXPECT_EQ(exited.signal, 0);
  EXPECT_EQ(exited.code, 7);
  const Exit killed = exit_from_wait(W_EXITCODE(0, SIGABRT) | WCOREFLAG);
  EXPECT_EQ(killed.signal, SIGABRT);
  EXPECT_TRUE(killed.core_dumped);
}

}  // namespace
}  // namespace gangrun::process
