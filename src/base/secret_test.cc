#include "base/secret.h"

#include <gmock/gmock.h>

#include <array>
#include <cinttypes>
#include <cstdint>
#include <fstream>
#include <memory>
#include <set>
#include <string>

namespace gangrun::base {
namespace {

TEST(Secret, IsRandomAndHexadecimal) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const Secret secret = Secret::generate();
    EXPECT_EQ(secret.reveal().size(), 64U);
    EXPECT_EQ(secret.reveal().find_first_not_of("0123456789abcdef"), std::string::npos);
    seen.insert(secret.reveal());
  }
  EXPECT_EQ(seen.size(), 100U);
}

TEST(Secret, MatchesItselfOnly) {
  const Secret secret("token");
  EXPECT_TRUE(secret.matches("token"));
  for (const char* other : {"", "t", "toke", "tokens", "tokem", "Token", "xoken"}) {
    EXPECT_FALSE(secret.matches(other)) << other;
  }
  EXPECT_FALSE(Secret().matches(""));
}

TEST(Secret, IsEmptyAfterItMovedAway) {
  Secret first("token");
  Secret second = std::move(first);
  EXPECT_TRUE(first.empty());  // NOLINT: what is left behind is the point
  EXPECT_TRUE(second.matches("token"));
  Secret third("other");
  third = std::move(second);
  EXPECT_TRUE(second.empty());  // NOLINT: what is left behind is the point
  EXPECT_TRUE(third.matches("token"));
  const Secret copy = third;
  third = copy;
  EXPECT_TRUE(third.matches("token") && copy.matches("token"));
}

TEST(Secret, CannotBePrinted) { EXPECT_FALSE(fmt::is_formattable<Secret>::value); }

// Whether /proc/self/smaps says of the memory at `address` that core files leave it out.
bool is_left_out(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  bool is_there = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t first = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &first, &end) == 2) {
      const auto wanted = reinterpret_cast<std::uintptr_t>(address);
      is_there = wanted >= first && wanted < end;
    }
    if (is_there && line.starts_with("VmFlags:")) return line.find(" dd") != std::string::npos;
  }
  return false;
}

TEST(Secret, CoreFilesLeaveItOut) {
  Secret made(std::string(5000, 's'));  // on more than one page
  EXPECT_TRUE(is_left_out(made.reveal().data()));
  EXPECT_TRUE(is_left_out(made.reveal().data() + made.reveal().size() - 1));
  const Secret copied =
      made;  // NOLINT(performance-unnecessary-copy-initialization): the copy is it
  EXPECT_TRUE(is_left_out(copied.reveal().data()));
  const Secret moved = std::move(made);
  EXPECT_TRUE(is_left_out(moved.reveal().data()));
  Secret assigned;
  assigned = moved;
  EXPECT_TRUE(is_left_out(assigned.reveal().data()));
  const auto other = std::make_unique<std::array<char, 1 << 20>>();
  EXPECT_FALSE(is_left_out(other->data() + other->size() / 2));
}

}  // namespace
}  // namespace gangrun::base
