#include "kubernetes/forward_words.h"

#include <gtest/gtest.h>

namespace gangrun::kubernetes {
namespace {

TEST(ForwardWords, SayThatNobodyListens) {
  const base::Error refused = base::unavailable(
      "error forwarding port 4001 to pod 3f…: failed to connect to localhost:4001 inside namespace "
      "\"3f…\", IPv4: dial tcp4 127.0.0.1:4001: connect: connection refused");
  EXPECT_EQ(forward_error(refused, "board", 4001).message,
            "nothing listens at port 4001 of pod board");
  const base::Error other = base::not_found("pods \"board\" not found");
  EXPECT_EQ(forward_error(other, "board", 4001).message, other.message);
  EXPECT_EQ(forward_error(other, "board", 4001).code, base::Code::kNotFound);
}

}  // namespace
}  // namespace gangrun::kubernetes
