#include "client/next_master.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/test_context.h"

namespace gangrun::client {
namespace {

TEST(NextMasterTest, WhatMayPassIsAskedAgain) {
  TestContext test;
  int asked = 0;
  const auto answer = with_next_master(test.context(), [&]() -> base::Result<int> {
    if (++asked < 3) return base::unavailable("nobody listens");
    return 7;
  });
  EXPECT_EQ(*answer, 7);
  EXPECT_EQ(asked, 3);
}

TEST(NextMasterTest, WhatStaysIsNot) {
  TestContext test;
  int asked = 0;
  const auto answer = with_next_master(test.context(), [&]() -> base::Result<int> {
    ++asked;
    return base::not_found("no such task");
  });
  EXPECT_EQ(answer.error().message, "no such task");
  EXPECT_EQ(asked, 1);
}

TEST(NextMasterTest, ItHasALimit) {
  TestContext test;
  const auto answer = with_next_master(
      test.context(), []() -> base::Result<int> { return base::unavailable("nobody listens"); },
      std::chrono::milliseconds(60));
  EXPECT_EQ(answer.error().message, "nobody listens; gave up after 60 ms");
}

}  // namespace
}  // namespace gangrun::client
