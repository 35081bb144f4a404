#include "ssh/log_room.h"

#include <gtest/gtest.h>

namespace gangrun::ssh {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;

TEST(LogRoom, IsThereForAllOnADiskWithRoom) {
  EXPECT_TRUE(may_send_more({100 * kGiB, 50 * kGiB}, 20 * kGiB, 20 * kGiB, 1));
  EXPECT_TRUE(may_send_more({100 * kGiB, 50 * kGiB}, 20 * kGiB, 20 * kGiB + 1, 8));
}

// It filled the disk, and the others' lines were lost.
TEST(LogRoom, OfAHostThatSendsWithoutEndIsOverBeforeThatOfOthers) {
  const std::uint64_t honest = 3 * kMiB;
  const std::uint64_t rogue = 40 * kGiB;
  const std::uint64_t all = 7 * honest + rogue;
  const cluster::DiskRoom scarce = {100 * kGiB, 200 * kMiB};
  EXPECT_FALSE(may_send_more(scarce, rogue, all, 8));
  EXPECT_TRUE(may_send_more(scarce, honest, all, 8));
  const cluster::DiskRoom none = {100 * kGiB, 63 * kMiB};
  EXPECT_FALSE(may_send_more(none, rogue, all, 8));
  EXPECT_FALSE(may_send_more(none, honest, all, 8));
}

TEST(LogRoom, IsSharedByHostsThatHaveSentTheSame) {
  const cluster::DiskRoom scarce = {100 * kGiB, 200 * kMiB};
  EXPECT_TRUE(may_send_more(scarce, kGiB, 4 * kGiB, 4));
  EXPECT_TRUE(may_send_more(scarce, kGiB, kGiB, 1));
}

TEST(LogRoom, OfASmallDiskIsMostOfIt) {
  EXPECT_TRUE(may_send_more({8 * kMiB, 3 * kMiB}, kMiB, kMiB, 1));
  EXPECT_TRUE(may_send_more({8 * kMiB, kMiB}, kMiB, kMiB, 1));
  EXPECT_FALSE(may_send_more({8 * kMiB, kMiB - 1}, kMiB, kMiB, 1));
}

}  // namespace
}  // namespace gangrun::ssh
