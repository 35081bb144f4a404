#include "host/own_user.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace gangrun::host {
namespace {

TEST(OwnUser, IsTheOneWhoRunsThis) {
  if (::geteuid() == 0) {
    EXPECT_EQ(own_user_name(), "root");
  } else {
    EXPECT_NE(own_user_name(), "root");
  }
}

}  // namespace
}  // namespace gangrun::host
