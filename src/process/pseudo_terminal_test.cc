#include "process/pseudo_terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>

#include "base/test_deadline.h"
#include "process/spawn.h"

namespace gangrun::process {
namespace {

using testing::HasSubstr;

// Until the program and all its heirs have closed it.
std::string read_all(int fd) {
  std::string text;
  while (true) {
    pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 10'000) <= 0) return text + "(nothing more came)";
    std::array<char, 4096> buffer{};
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

std::string said_in_terminal(const std::string& script) {
  auto terminal = open_pseudo_terminal(33, 99);
  EXPECT_TRUE(terminal.ok()) << terminal.error().message;
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", script};
  options.environment = inherited_environment();
  options.new_group = NewGroup::kSession;
  options.takes_terminal = true;
  const int theirs = terminal->theirs.get();
  options.standard_input = options.standard_output = options.standard_error = theirs;
  auto child = spawn(options);
  EXPECT_TRUE(child.ok()) << child.error().message;
  terminal->theirs.reset();
  const std::string said = read_all(terminal->ours.get());
  EXPECT_TRUE(child->wait(base::soon()).ok());
  return said;
}

TEST(PseudoTerminal, AProgramHasItForItsControllingTerminal) {
  EXPECT_THAT(said_in_terminal("tty; echo here > /dev/tty"), HasSubstr("/dev/pts/"));
  EXPECT_THAT(said_in_terminal("tty; echo here > /dev/tty"), HasSubstr("here"));
}

TEST(PseudoTerminal, AProgramSeesItsSize) {
  EXPECT_THAT(said_in_terminal("stty size"), HasSubstr("33 99"));
}

TEST(PseudoTerminal, WhatIsNoTerminalIsRefused) {
  SpawnOptions options;
  options.argv = {"/bin/true"};
  options.new_group = NewGroup::kSession;
  options.takes_terminal = true;
  const auto child = spawn(options);
  ASSERT_FALSE(child.ok());
  EXPECT_THAT(child.error().message, HasSubstr("its terminal"));
}

}  // namespace
}  // namespace gangrun::process
