#include "client/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::client {
namespace {

TEST(MeantAsRoles, TypesWithNumbersAreTold) {
  EXPECT_EQ(meant_as_roles({"worker:3"}), "-r worker:3");
  EXPECT_EQ(meant_as_roles({"worker=3"}), "-r worker:3");
  EXPECT_EQ(meant_as_roles({"ps:1", "worker:2"}), "-r ps:1,worker:2");
  EXPECT_EQ(meant_as_roles({"chief,ps:1", "evaluator"}), "-r chief,ps:1,evaluator");
}

TEST(MeantAsRoles, FilesAndCommandsAreNot) {
  for (const char* word : {"job.yaml", "worker", "worker:", "worker:0", "worker:x", "dir/worker:3",
                           "3:worker", "worker:3:4", "", "worker:99999999999"}) {
    EXPECT_EQ(meant_as_roles({word}), std::nullopt) << word;
  }
  EXPECT_EQ(meant_as_roles({"worker:3", "train.py"}), std::nullopt);
}

}  // namespace
}  // namespace gangrun::client
