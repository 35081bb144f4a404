#include "zookeeper/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// What a real server answers is tested with one: tests/integration/test_zookeeper.py.
namespace gangrun::zookeeper {
namespace {

TEST(Session, WithoutAServerItGoesOnTryingAndEndsAtOnce) {
  net::EventLoop loop;
  std::vector<SessionState> states;
  auto session =
      Session::open(loop, {.servers = {"127.0.0.1:1"}, .credentials = base::Secret("gangrun:x")},
                    [&](SessionState state, const std::string&) { states.push_back(state); });
  ASSERT_TRUE(session.ok()) << session.error().message;
  Answer answer;
  bool is_answered = false;
  (*session)->send({Operation::Verb::kDelete, {.path = "/x"}}, [&](const Answer& told) {
    answer = told;
    is_answered = true;
  });
  EXPECT_TRUE(loop.run_until([&] { return is_answered; },
                             std::chrono::steady_clock::now() + std::chrono::seconds(60)));
  EXPECT_EQ(answer.code, Answer::Code::kLost);
  EXPECT_THAT(states, testing::Each(SessionState::kConnecting));
}

TEST(Session, NothingIsCalledAfterItsEnd) {
  net::EventLoop loop;
  bool is_called = false;
  {
    const auto session = Session::open(loop, {.servers = {"127.0.0.1:1"}},
                                       [&](SessionState, const std::string&) { is_called = true; });
    ASSERT_TRUE(session.ok());
  }
  bool is_over = false;
  loop.post([&] { is_over = true; });
  EXPECT_TRUE(loop.run_until([&] { return is_over; },
                             std::chrono::steady_clock::now() + std::chrono::seconds(60)));
  EXPECT_FALSE(is_called);
}

TEST(Session, NoServerIsAnError) {
  net::EventLoop loop;
  EXPECT_FALSE(Session::open(loop, {}, [](SessionState, const std::string&) {}).ok());
}

}  // namespace
}  // namespace gangrun::zookeeper
