#include "kubernetes/commands/pod_connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <optional>

#include "kubernetes/test_tunnel.h"

namespace gangrun::kubernetes::commands {
namespace {

constexpr std::chrono::seconds kLimit(20);
constexpr std::chrono::milliseconds kPollStep(2);

class PodConnectionTest : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> pair{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair.data()), 0);
    user.reset(pair[0]);
    connection = std::make_unique<PodConnection>(
        loop, base::UniqueFd(pair[1]),
        [this](kubernetes::TunnelCallbacks callbacks) {
          return std::make_unique<TestTunnel>(pod, std::move(callbacks));
        },
        [this](base::Result<> result) { how.emplace(std::move(result)); });
  }

  bool until(const std::function<bool()>& done) {
    const base::Instant deadline = loop.now() + kLimit;
    // The loop does not tell what the user's socket has.
    while (!loop.run_until(done, loop.now() + kPollStep)) {
      if (loop.now() > deadline) return false;
    }
    return true;
  }
  std::size_t write(std::string_view bytes) {
    const ssize_t size = ::send(user.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return size < 0 ? 0 : static_cast<std::size_t>(size);
  }
  // Adds what has come to the user to `heard`; returns whether the connection is at its end.
  bool look() {
    std::array<char, 65536> buffer{};
    while (true) {
      const ssize_t size = ::recv(user.get(), buffer.data(), buffer.size(), 0);
      if (size <= 0) return size == 0;
      heard.append(buffer.data(), static_cast<std::size_t>(size));
    }
  }

  net::EventLoop loop;
  base::UniqueFd user;
  TestPod pod;
  std::string heard;
  std::optional<base::Result<>> how;
  std::unique_ptr<PodConnection> connection;
};

TEST_F(PodConnectionTest, CarriesBytesBothWaysUntilThePodEnds) {
  EXPECT_EQ(write("question"), 8U);
  pod.open();
  ASSERT_TRUE(until([&] { return pod.sent == "question"; }));
  pod.say("ans");
  pod.say("wer");
  pod.end({});
  ASSERT_TRUE(until([&] { return how.has_value(); }));
  EXPECT_TRUE(how->ok());
  EXPECT_TRUE(look());
  EXPECT_EQ(heard, "answer");
}

TEST_F(PodConnectionTest, NothingIsReadBeforeTheWayIsOpen) {
  std::size_t written = 0;
  const std::string piece(100'000, 'x');
  while (const std::size_t size = write(piece)) written += size;
  EXPECT_FALSE(loop.run_until([&] { return !pod.sent.empty(); }, loop.now() + 10 * kPollStep));
  pod.open();
  ASSERT_TRUE(until([&] { return pod.sent.size() == written; }));
}

TEST_F(PodConnectionTest, WhatThePodDoesNotTakeIsLeftInTheSocket) {
  pod.queued_bytes = kMaxUnsentBytes + 1;
  pod.open();
  EXPECT_GT(write("later"), 0U);
  EXPECT_FALSE(loop.run_until([&] { return !pod.sent.empty(); }, loop.now() + 10 * kPollStep));
  pod.queued_bytes = kMaxUnsentBytes;
  ASSERT_TRUE(until([&] { return pod.sent == "later"; }));
}

TEST_F(PodConnectionTest, WhatTheUserDoesNotTakeIsKeptInOrder) {
  pod.open();
  std::string all;
  for (int i = 0; i < 40; ++i) {
    const std::string piece(100'000, static_cast<char>('a' + i % 26));
    pod.say(piece);
    all += piece;
  }
  pod.end({});
  ASSERT_TRUE(until([&] { return look(); }));
  EXPECT_EQ(heard, all);
  ASSERT_TRUE(until([&] { return how.has_value(); }));
  EXPECT_TRUE(how->ok());
}

TEST_F(PodConnectionTest, TooMuchThatIsNotTakenBreaksIt) {
  pod.open();
  const std::string piece(std::size_t{8} << 20U, 'x');
  for (int i = 0; i < 10; ++i) pod.say(piece);
  ASSERT_TRUE(until([&] { return how.has_value(); }));
  ASSERT_FALSE(how->ok());
  EXPECT_EQ(how->error().code, base::Code::kResourceExhausted);
}

TEST_F(PodConnectionTest, AnAnswerComesAfterTheEndOfTheQuestion) {
  pod.open();
  EXPECT_GT(write("question"), 0U);
  ASSERT_EQ(::shutdown(user.get(), SHUT_WR), 0);
  ASSERT_TRUE(until([&] { return pod.sent == "question"; }));
  pod.say("answer");
  ASSERT_TRUE(until([&] {
    (void)look();
    return heard == "answer";
  }));
  EXPECT_FALSE(how.has_value());
  pod.end({});
  ASSERT_TRUE(until([&] { return how.has_value(); }));
}

TEST_F(PodConnectionTest, AUserWhoHasGoneIsNoError) {
  pod.open();
  user.reset();
  pod.say("for nobody");
  ASSERT_TRUE(until([&] { return how.has_value(); }));
  EXPECT_TRUE(how->ok());
  connection.reset();
  EXPECT_TRUE(pod.is_closed);
}

TEST_F(PodConnectionTest, ARefusalIsTold) {
  pod.open();
  pod.end(base::unavailable("nobody listens"));
  pod.say("late");
  ASSERT_TRUE(until([&] { return how.has_value(); }));
  ASSERT_FALSE(how->ok());
  EXPECT_EQ(how->error().message, "nobody listens");
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
