#include "base/hex.h"

#include <gtest/gtest.h>

namespace gangrun::base {
namespace {

TEST(Hex, WritesTwoDigitsForEveryByte) {
  EXPECT_EQ(to_hex(""), "");
  EXPECT_EQ(to_hex(std::string_view("\0\x7f\x80\xff A", 6)), "007f80ff2041");
}

TEST(Hex, ReadsWhatItHasWritten) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  EXPECT_EQ(from_hex(to_hex(all)), all);
}

TEST(Hex, ReadsNothingElse) {
  for (const char* text : {"0", "0g", "g0", "0A", " 0", "0x"}) {
    EXPECT_EQ(from_hex(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace gangrun::base
