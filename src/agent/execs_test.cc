#include "agent/execs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::agent {
namespace {

// The kill itself is tested in tests/integration/test_exec.py.
TEST(ExecsTest, NoTwoCommandsHaveTheSameMark) {
  EXPECT_NE(exec_mark(1), exec_mark(1));
  EXPECT_NE(exec_mark(1), exec_mark(2));
}

}  // namespace
}  // namespace gangrun::agent
