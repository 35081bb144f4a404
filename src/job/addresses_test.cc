#include "job/addresses.h"

#include <gtest/gtest.h>

namespace gangrun::job {
namespace {

TEST(CommaSeparated, HasEveryAddressInItsOrder) {
  EXPECT_EQ(comma_separated({}), "");
  EXPECT_EQ(comma_separated({{"node7", 1}}), "node7:1");
  EXPECT_EQ(comma_separated({{"node7", 1}, {"::1", 2}, {"node7", 3}}), "node7:1,[::1]:2,node7:3");
}

}  // namespace
}  // namespace gangrun::job
