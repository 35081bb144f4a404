#include "base/check.h"

#include <gtest/gtest.h>

namespace gangrun::base {
namespace {

TEST(CheckDeathTest, ABrokenInvariantAbortsWithItsOperands) {
  const int tasks = 7;
  EXPECT_DEATH(GANGRUN_CHECK(tasks < 5, tasks, 5),
               "check_test.cc:[0-9]+: broken invariant: tasks < 5 \\(operands: 7, 5\\)");
}

TEST(Check, OneThatHoldsDoesNothing) {
  int evaluated = 0;
  GANGRUN_CHECK(++evaluated == 1, evaluated);
  EXPECT_EQ(evaluated, 1);
}

}  // namespace
}  // namespace gangrun::base
