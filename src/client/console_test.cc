#include "client/console.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "base/unique_fd.h"
#include "client/test_context.h"

namespace gangrun::client {
namespace {

TEST(Console, WritesTextWithoutColoursWhereThereIsNoTerminal) {
  TestContext test;
  Console& console = test.context().console;
  console.out(Lines{Line("red", Paint::kRed), Line("plain")});
  console.error("it failed");
  EXPECT_EQ(test.out(), "red\nplain\n");
  EXPECT_EQ(test.err(), "gangrun: it failed\n");
  EXPECT_FALSE(console.out_is_terminal());
  EXPECT_FALSE(console.size());
}

TEST(Console, DeferredOutputIsKeptUntilItCanBeWritten) {
  std::array<int, 2> fds{-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
  const base::UniqueFd reader(fds[0]);
  const base::UniqueFd writer(fds[1]);
  Console::Options options;
  options.out = writer.get();
  Console console(options);
  int told = 0;
  console.defer([&] { ++told; });
  const std::string text(4'000'000, 'x');
  console.out(text);
  EXPECT_EQ(told, 1);
  EXPECT_GT(console.queued(), 0U);
  std::size_t got = 0;
  std::string buffer(65536, '\0');
  while (got < text.size()) {
    const ssize_t count = ::read(reader.get(), buffer.data(), buffer.size());
    ASSERT_GT(count, 0);
    got += static_cast<std::size_t>(count);
    console.flush();
  }
  EXPECT_EQ(console.queued(), 0U);
  console.stop_deferring();
  console.out("more");
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace gangrun::client
