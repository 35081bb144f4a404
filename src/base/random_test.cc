#include "base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>

namespace gangrun::base {
namespace {

TEST(Random, FillsAllBytesAndNoTwoTimesAlike) {
  std::array<std::byte, 1000> bytes{};
  fill_random(bytes);
  const std::set<std::byte> kinds(bytes.begin(), bytes.end());
  EXPECT_GT(kinds.size(), 100U);  // of 256; fewer have a chance of less than one in 10^60
  EXPECT_EQ(std::set({random_number<std::uint64_t>(), random_number<std::uint64_t>(),
                      random_number<std::uint64_t>()})
                .size(),
            3U);
  fill_random({});
}

TEST(Random, ANameUntilAFileIsWholeIsHiddenShortAndOfNoOtherFile) {
  const std::string name = name_until_whole();
  EXPECT_TRUE(name.starts_with(".gangrun-") && name.size() < 30) << name;
  EXPECT_NE(name, name_until_whole());
}

}  // namespace
}  // namespace gangrun::base
