#include "base/exit_words.h"

#include <gtest/gtest.h>

#include <csignal>

namespace gangrun::base {
namespace {

TEST(ExitWords, AStatusIsToldAsItIs) {
  EXPECT_EQ(to_words(ProcessEnd{}), "exited with status 0");
  EXPECT_EQ(to_words(ProcessEnd{.code = 3}), "exited with status 3");
  EXPECT_EQ(to_words(ProcessEnd{.code = 1, .out_of_memory = true}),
            "exited with status 1 (out of memory)");
}

TEST(ExitWords, ASignalIsToldWithWhatItMeans) {
  EXPECT_EQ(to_words(ProcessEnd{.signal = SIGSEGV}),
            "was killed by signal 11 (segmentation fault)");
  EXPECT_EQ(to_words(ProcessEnd{.signal = SIGSEGV, .core_dumped = true}),
            "was killed by signal 11 (segmentation fault, core dumped)");
}

TEST(ExitWords, ThatMemoryWasShortSaysMoreThanTheSignal) {
  EXPECT_EQ(to_words(ProcessEnd{.signal = SIGKILL, .out_of_memory = true}),
            "was killed by signal 9 (out of memory)");
}

TEST(ExitWords, EverySignalHasSome) {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) EXPECT_FALSE(signal_words(signal).empty());
  EXPECT_EQ(signal_words(SIGTERM), "termination request");
  EXPECT_EQ(signal_words(SIGRTMIN + 2), "real-time signal 2");
  EXPECT_EQ(signal_words(SIGRTMAX + 1), "unnamed");
}

}  // namespace
}  // namespace gangrun::base
