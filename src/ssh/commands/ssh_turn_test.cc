#include "ssh/commands/ssh_turn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "client/test_context.h"
#include "ssh/host_records.h"

namespace gangrun::ssh::commands {
namespace {

using testing::HasSubstr;

struct TurnTest : testing::Test {
  client::TestContext test;
  net::EventLoop loop;
  const std::string file = test.folder() + "/hosts.json";
};

TEST_F(TurnTest, WhoIsAloneHasItAtOnceAndSaysNothing) {
  const auto turn = take_turn(
      loop, file, [] { return false; }, test.context());
  ASSERT_TRUE(turn.ok()) << turn.error().message;
  EXPECT_FALSE(*ssh::lock_host_records(file));
  EXPECT_EQ(test.err(), "");
}

TEST_F(TurnTest, AnotherCommandIsWaitedFor) {
  auto others = ssh::lock_host_records(file);
  ASSERT_TRUE(others.ok() && *others);
  const net::Timer end = loop.after(std::chrono::milliseconds(1), [&others] { others->reset(); });
  const auto turn = take_turn(
      loop, file, [] { return false; }, test.context());
  EXPECT_TRUE(turn.ok()) << turn.error().message;
  EXPECT_THAT(test.err(), HasSubstr("waits for another command"));
}

TEST_F(TurnTest, TheWaitCanBeCancelled) {
  const auto others = ssh::lock_host_records(file);
  ASSERT_TRUE(others.ok() && *others);
  bool is_cancelled = false;
  const net::Timer end =
      loop.after(std::chrono::milliseconds(1), [&is_cancelled] { is_cancelled = true; });
  const auto turn = take_turn(
      loop, file, [&is_cancelled] { return is_cancelled; }, test.context());
  ASSERT_FALSE(turn.ok());
  EXPECT_EQ(turn.error().code, base::Code::kCancelled);
}

TEST_F(TurnTest, AJobThatIsGoneHasNone) {
  const auto turn = take_turn(
      loop, test.folder() + "/none/hosts.json", [] { return false; }, test.context());
  EXPECT_FALSE(turn.ok());
}

}  // namespace
}  // namespace gangrun::ssh::commands
