#include <gtest/gtest.h>

#include "kubernetes/refusal.h"

namespace gangrun::kubernetes {
namespace {

TEST(RetryPolicy, PausesGrowAndAreSpread) {
  RetryPause pause;
  EXPECT_EQ(pause.next(1), base::milliseconds(200));
  EXPECT_EQ(pause.next(0), base::milliseconds(100));
  EXPECT_EQ(pause.next(1), base::milliseconds(800));
  for (int i = 0; i < 100; ++i) (void)pause.next(1);
  EXPECT_EQ(pause.next(0), base::milliseconds(100));
  EXPECT_EQ(pause.next(1), base::seconds(10));
  pause.reset();
  EXPECT_EQ(pause.next(1), base::milliseconds(200));
}

TEST(RetryPolicy, RetryAfterIsFollowedWithinLimits) {
  const auto read = [](const std::string& value) {
    return read_retry_after({429, "", {{"retry-after", value}}, ""});
  };
  EXPECT_EQ(read("3"), base::seconds(3));
  EXPECT_EQ(read(" 0 "), base::seconds(0));
  EXPECT_EQ(read("999999999999"), base::seconds(60));
  EXPECT_EQ(read("-1"), std::nullopt);
  EXPECT_EQ(read("Wed, 21 Oct 2015 07:28:00 GMT"), std::nullopt);
  EXPECT_EQ(read_retry_after({}), std::nullopt);
}

TEST(RetryPolicy, WhatMayPassIsRepeated) {
  for (const int status : {429, 500, 502, 503, 504}) {
    EXPECT_TRUE(may_help_to_repeat(Refusal{status, "", "", nullptr})) << status;
  }
  for (const int status : {400, 401, 403, 404, 409, 410, 422}) {
    EXPECT_FALSE(may_help_to_repeat(Refusal{status, "", "", nullptr})) << status;
  }
  EXPECT_TRUE(may_help_to_repeat(Refusal{409, "Conflict", "", {{"kind", "resourcequotas"}}}));
  EXPECT_TRUE(may_help_to_repeat(base::unavailable("x")));
  EXPECT_TRUE(may_help_to_repeat(base::deadline_exceeded("x")));
  EXPECT_FALSE(may_help_to_repeat(base::Error{base::Code::kUnauthenticated, "x"}));
}

TEST(RetryPolicy, ARefusalIsBelievedAtOnceOnlyBeforeTheFirstService) {
  const base::Error forbidden{base::Code::kPermissionDenied, "x"};
  EXPECT_TRUE(is_final(forbidden, std::nullopt));
  EXPECT_FALSE(is_final(forbidden, base::seconds(30)));
  EXPECT_TRUE(is_final(forbidden, base::seconds(31)));
  EXPECT_FALSE(is_final(base::unavailable("x"), std::nullopt));
  EXPECT_FALSE(is_final(base::unavailable("x"), base::seconds(1000)));
}

}  // namespace
}  // namespace gangrun::kubernetes
