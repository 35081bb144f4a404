#include "client/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/files.h"

namespace gangrun::client {
namespace {

struct Ends {
  base::UniqueFd read;
  base::UniqueFd write;
};

Ends make_pipe() {
  std::array<int, 2> fds{-1, -1};
  EXPECT_EQ(::pipe2(fds.data(), O_CLOEXEC), 0);
  return {base::UniqueFd(fds[0]), base::UniqueFd(fds[1])};
}

Ends make_socket() {
  std::array<int, 2> fds{-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
  return {base::UniqueFd(fds[0]), base::UniqueFd(fds[1])};
}

std::string read_some(int fd) {
  std::string text(65536, '\0');
  const ssize_t got = ::read(fd, text.data(), text.size());
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

void expect_kept_in_order(const Ends& ends) {
  Output output(ends.write.get());
  std::string all;
  for (int i = 0; i < 3000; ++i) {
    const std::string line = std::to_string(i) + std::string(200, 'x') + "\n";
    all += line;
    output.write(line);
  }
  EXPECT_GT(output.queued(), 0U) << "more than the kernel takes";
  std::string got;
  while (got.size() < all.size()) {
    got += read_some(ends.read.get());
    output.flush();
  }
  EXPECT_EQ(got, all);
  EXPECT_EQ(output.queued(), 0U);
}

TEST(Output, KeepsWhatAPipeDoesNotTakeAtOnce) { expect_kept_in_order(make_pipe()); }
TEST(Output, KeepsWhatASocketDoesNotTakeAtOnce) { expect_kept_in_order(make_socket()); }

TEST(Output, LeavesTheInheritedDescriptorBlocking) {
  const Ends ends = make_pipe();
  const Output output(ends.write.get());
  EXPECT_EQ(::fcntl(ends.write.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(Output, AReaderThatIsGoneEndsTheWritingAndIsNoError) {
  ::signal(SIGPIPE, SIG_IGN);
  Ends ends = make_pipe();
  Output output(ends.write.get());
  ends.read.reset();
  output.write("x");
  EXPECT_FALSE(output.is_open());
  EXPECT_EQ(output.queued(), 0U);
  output.finish();
  EXPECT_FALSE(output.error());
}

TEST(Output, AFullDiskIsAnError) {
  const base::UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  Output output(full.get());
  output.finish();
  EXPECT_FALSE(output.error()) << "nothing was written";
  output.write("x");
  ASSERT_TRUE(output.error());
  EXPECT_EQ(output.error()->code, base::Code::kResourceExhausted);
  EXPECT_FALSE(output.is_open());
}

TEST(Output, OneThatIsClosedOrNotForWritingIsAnError) {
  const base::UniqueFd unwritable(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  constexpr int kNone = 1'000'000'000;
  for (const int fd : {unwritable.get(), kNone}) {
    Output output(fd);
    output.finish();
    EXPECT_FALSE(output.error()) << "nothing was written";
    output.write("x");
    output.finish();
    ASSERT_TRUE(output.error());
    EXPECT_EQ(output.error()->message, "cannot be written: Bad file descriptor");
  }
}

TEST(Output, AFileThatMayGrowNoMoreIsAnError) {
  ::signal(SIGXFSZ, SIG_IGN);
  const std::string path = testing::TempDir() + "output_test_limit.txt";
  const base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit little{10, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  Output output(file.get());
  output.write("more than ten bytes");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(output.error());
  EXPECT_EQ(base::read_file(path, 100).value(), "more than ");
  std::remove(path.c_str());
}

TEST(Output, AReaderThatTakesNothingIsWaitedForOnlySoLong) {
  const Ends ends = make_pipe();
  Output output(ends.write.get());
  output.write(std::string(1'000'000, 'x'));
  output.drain(1);
  EXPECT_FALSE(output.is_open());
  EXPECT_TRUE(output.error());
}

TEST(Output, AFileTakesEverythingAtOnceWhereItsOffsetIs) {
  const std::string path = testing::TempDir() + "output_test.txt";
  const base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  ASSERT_TRUE(base::write_all(file.get(), "before ", path).ok());
  Output output(file.get());
  output.write(std::string(1'000'000, 'x'));
  EXPECT_EQ(output.queued(), 0U);
  const auto text = base::read_file(path, 2'000'000);
  EXPECT_EQ(text->size(), 1'000'007U);
  EXPECT_TRUE(text->starts_with("before x"));
  std::remove(path.c_str());
}

}  // namespace
}  // namespace gangrun::client
