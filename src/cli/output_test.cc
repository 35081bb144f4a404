#include "cli/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/files.h"

namespace gangrun::cli {
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

TEST(Output, AReaderThatIsGoneEndsTheWriting) {
  ::signal(SIGPIPE, SIG_IGN);
  Ends ends = make_pipe();
  Output output(ends.write.get());
  ends.read.reset();
  output.write("x");
  EXPECT_FALSE(output.is_open());
  EXPECT_EQ(output.queued(), 0U);
}

TEST(Output, AReaderThatTakesNothingIsWaitedForOnlySoLong) {
  const Ends ends = make_pipe();
  Output output(ends.write.get());
  output.write(std::string(1'000'000, 'x'));
  output.drain(1);
  EXPECT_FALSE(output.is_open());
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
}  // namespace gangrun::cli
