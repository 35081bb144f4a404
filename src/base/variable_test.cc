#include "base/variable.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace gangrun::base {
namespace {

TEST(Variable, EmptyWhereItIsNotSet) {
  ASSERT_EQ(::setenv("GANGRUN_VARIABLE_TEST", "a value", 1), 0);
  EXPECT_EQ(variable("GANGRUN_VARIABLE_TEST"), "a value");
  ASSERT_EQ(::unsetenv("GANGRUN_VARIABLE_TEST"), 0);
  EXPECT_EQ(variable("GANGRUN_VARIABLE_TEST"), "");
}

}  // namespace
}  // namespace gangrun::base
