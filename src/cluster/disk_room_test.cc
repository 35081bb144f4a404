#include "cluster/disk_room.h"

#include <gtest/gtest.h>

namespace gangrun::cluster {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

TEST(DiskRoom, IsThatOfTheDiskOfAFolder) {
  const auto room = disk_room("/proc/self");
  ASSERT_TRUE(room.ok()) << room.error().message;
  EXPECT_EQ(room->bytes, 0U);
  EXPECT_GT(disk_room("/")->bytes, 0U);
  EXPECT_FALSE(disk_room("/there/is/none").ok());
}

TEST(DiskRoom, SomeOfItStaysFree) {
  EXPECT_EQ(kept_free({.bytes = 1024 * kMiB, .free = 1}), 64 * kMiB);
  EXPECT_EQ(kept_free({.bytes = 8 * kMiB, .free = 8 * kMiB}), kMiB);
}

}  // namespace
}  // namespace gangrun::cluster
