#include "client/raw_terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "base/pause.h"
#include "base/test_deadline.h"
#include "process/pseudo_terminal.h"

namespace gangrun::client {
namespace {

tcflag_t modes_of(int terminal) {
  termios modes{};
  EXPECT_EQ(::tcgetattr(terminal, &modes), 0);
  return modes.c_lflag;
}

TEST(RawTerminal, KeysComeAsTheyAreAndTheTerminalIsGivenBack) {
  const auto terminal = process::open_pseudo_terminal(24, 80);
  ASSERT_TRUE(terminal.ok());
  const int fd = terminal->theirs.get();
  const tcflag_t before = modes_of(fd);
  ASSERT_NE(before & (ICANON | ISIG | ECHO), 0U);
  {
    const auto raw = RawTerminal::enter(fd);
    ASSERT_TRUE(raw.ok()) << raw.error().message;
    EXPECT_EQ(modes_of(fd) & (ICANON | ISIG | ECHO), 0U);
  }
  EXPECT_EQ(modes_of(fd), before);
}

TEST(RawTerminal, ItIsGivenBackForOneThatIsKilled) {
  const auto terminal = process::open_pseudo_terminal(24, 80);
  ASSERT_TRUE(terminal.ok());
  const int fd = terminal->theirs.get();
  const tcflag_t before = modes_of(fd);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto raw = RawTerminal::enter(fd);
    if (raw.ok()) ::raise(SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const base::Instant limit = base::soon();
  while (modes_of(fd) != before && std::chrono::steady_clock::now() < limit) {
    base::pause_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(modes_of(fd), before);
}

TEST(RawTerminal, WhatIsNoTerminalIsAnError) {
  EXPECT_FALSE(RawTerminal::enter(::fileno(::tmpfile())).ok());
}

}  // namespace
}  // namespace gangrun::client
