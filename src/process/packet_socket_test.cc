#include "process/packet_socket.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/test_deadline.h"
#include "process/pipe.h"
#include "process/wait_for.h"

namespace gangrun::process {
namespace {

struct PacketSocketTest : testing::Test {
  PacketSocketTest() {
    auto ends = PacketSocket::pair();
    EXPECT_TRUE(ends.ok());
    one.emplace(std::move(ends->first));
    other.emplace(std::move(ends->second));
  }
  std::optional<PacketSocket> one;
  std::optional<PacketSocket> other;
};

TEST_F(PacketSocketTest, ItsPathMayBeLongAndIsForItsUserOnly) {
  const std::string top = testing::TempDir() + "packet-socket-" + std::to_string(::getpid());
  for (const std::string& folder : {top, top + "/" + std::string(200, 'd')}) {
    std::filesystem::create_directories(folder);
    const std::string path = folder + "/agents.sock";
    const auto listener = PacketSocket::listen(path, 1);
    ASSERT_TRUE(listener.ok()) << listener.error().message;
    struct stat info {};
    ASSERT_EQ(::lstat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
    EXPECT_TRUE(PacketSocket::connect(path).ok());
    EXPECT_TRUE(PacketSocket::listen(path, 1).ok());  // what is there goes
    EXPECT_FALSE(PacketSocket::connect(folder + "/none").ok());
  }
  std::filesystem::remove_all(top);
}

TEST_F(PacketSocketTest, APacketComesWholeWithItsDescriptors) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  Packet packet{"text", {}, 0};
  packet.fds.push_back(std::move(pipe->write));
  ASSERT_TRUE(one->send(std::move(packet)).ok());
  ASSERT_TRUE(one->send({"more", {}, 0}).ok());
  const auto got = other->receive();
  ASSERT_TRUE(got.ok() && *got);
  EXPECT_EQ((*got)->text, "text");
  ASSERT_EQ((*got)->fds.size(), 1U);
  EXPECT_EQ(::write((*got)->fds[0].get(), "x", 1), 1);
  EXPECT_NE(::fcntl((*got)->fds[0].get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_TRUE(wait_readable(pipe->read.get(), base::soon()));
  EXPECT_EQ((*other->receive())->text, "more");
  EXPECT_FALSE(other->receive()->has_value());
}

TEST_F(PacketSocketTest, NamesAProcess) {
  ASSERT_TRUE(one->send({"of me", {}, 0}).ok());
  EXPECT_EQ((*other->receive())->pid, ::getpid());
  // Only root names another process.
  if (::geteuid() != 0) return;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_TRUE(one->send({"of a child that has ended", {}, child}).ok());
  EXPECT_EQ((*other->receive())->pid, child);
  ::waitpid(child, nullptr, 0);
}

TEST_F(PacketSocketTest, WhatDoesNotFitWaitsInOrder) {
  constexpr int kMany = 2000;
  for (int i = 0; i < kMany; ++i) {
    ASSERT_TRUE(one->send({std::to_string(i) + std::string(500, ' '), {}, 0}).ok());
  }
  EXPECT_EQ(one->waiting(), PacketSocket::Waiting::kUntilWritable);
  for (int i = 0; i < kMany; ++i) {
    auto got = other->receive();
    ASSERT_TRUE(got.ok());
    if (!*got) {
      ASSERT_TRUE(one->flush().ok());
      got = other->receive();
      ASSERT_TRUE(got.ok() && *got) << i;
    }
    EXPECT_EQ(std::stoi((*got)->text), i);
  }
  EXPECT_EQ(one->waiting(), PacketSocket::Waiting::kNothing);
}

TEST_F(PacketSocketTest, TellsThatThePeerIsGoneAfterItsLastPacket) {
  ASSERT_TRUE(one->send({"last", {}, 0}).ok());
  one.reset();
  EXPECT_EQ((*other->receive())->text, "last");
  const auto got = other->receive();
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, base::Code::kUnavailable);
  EXPECT_TRUE(other->send({"nobody hears it", {}, 0}).ok());
  EXPECT_EQ(other->waiting(), PacketSocket::Waiting::kNothing);
}

// All of it was kept, for as long as there was memory.
TEST_F(PacketSocketTest, NoMoreThanALimitWaitsForAPeerThatDoesNotRead) {
  std::size_t taken = 0;
  base::Result<> sent;
  while (sent.ok() && taken < 2 * kMaxWaitingBytes) {
    sent = one->send({std::string(kMaxPacketBytes, 'x'), {}, 0});
    if (sent.ok()) taken += kMaxPacketBytes;
  }
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().code, base::Code::kResourceExhausted);
  EXPECT_GT(taken, kMaxWaitingBytes / 2);
  ASSERT_TRUE(*other->receive());
  ASSERT_TRUE(one->flush().ok());
  EXPECT_TRUE(one->send({"there is room again", {}, 0}).ok());
}

// It counted as sent, and was gone.
TEST_F(PacketSocketTest, WhatTheKernelRefusesIsAnError) {
  const int small = 4096;
  ASSERT_EQ(::setsockopt(one->fd(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
  const auto sent = one->send({std::string(kMaxPacketBytes, 'x'), {}, 0});
  ASSERT_FALSE(sent.ok());
  EXPECT_THAT(sent.error().message, testing::HasSubstr("Message too long"));
}

// No descriptor becomes ready when the kernel takes some again.
TEST_F(PacketSocketTest, TooManyDescriptorsOnTheirWayAreTriedAgain) {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr rlim_t kFewDescriptors = 20;
    // The limit is for a user who is not root.
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    const rlimit limit{kFewDescriptors, kFewDescriptors};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::_exit(3);
    for (rlim_t i = 0; one->waiting() == PacketSocket::Waiting::kNothing; ++i) {
      Packet packet{"text", {}, 0};
      packet.fds.emplace_back(::dup(STDERR_FILENO));
      if (i > 4 * kFewDescriptors || !one->send(std::move(packet)).ok()) ::_exit(4);
    }
    if (one->waiting() != PacketSocket::Waiting::kForAMoment) ::_exit(5);
    while (other->receive()->has_value()) continue;
    if (!one->flush().ok() || one->waiting() != PacketSocket::Waiting::kNothing) ::_exit(6);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(PacketSocketTest, RefusesWhatIsOverALimit) {
  EXPECT_FALSE(one->send({std::string(kMaxPacketBytes + 1, 'x'), {}, 0}).ok());
  EXPECT_FALSE(one->send({"", {}, 0}).ok());
  EXPECT_TRUE(one->send({std::string(kMaxPacketBytes, 'x'), {}, 0}).ok());
  EXPECT_EQ((*other->receive())->text.size(), kMaxPacketBytes);
}

}  // namespace
}  // namespace gangrun::process
