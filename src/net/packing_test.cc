#include "net/packing.h"

#include <gtest/gtest.h>

#include <random>

namespace gangrun::net {
namespace {

constexpr std::size_t kPlenty = 1 << 20;

TEST(Packing, GivesTheTextAgain) {
  std::mt19937 random(7);
  for (const std::size_t size : {0, 1, 2, 3, 4, 5, 100, 70'000}) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text.push_back(static_cast<char>(random() % 256));
    const auto again = unpack(pack(text), kPlenty);
    ASSERT_TRUE(again.ok()) << size << ": " << again.error().message;
    EXPECT_EQ(*again, text) << size;
  }
}

TEST(Packing, MakesAddressesShort) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "\"10.0.3." + std::to_string(i % 250) + ":41000\",";
  EXPECT_LT(pack(text).size(), text.size() / 5);
}

TEST(Packing, RefusesATextThatWouldBeTooLarge) {
  const std::string zeros(kPlenty, '0');
  const std::string packed = pack(zeros);
  EXPECT_LT(packed.size(), 2000U);
  EXPECT_TRUE(unpack(packed, kPlenty).ok());
  const auto refused = unpack(packed, kPlenty - 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kResourceExhausted);
}

TEST(Packing, RefusesWhatWasNotPacked) {
  const std::string packed = pack("some text that is long enough to be cut");
  std::string other = packed;
  other[10] = other[10] == 'A' ? 'B' : 'A';
  for (const std::string& wrong :
       {std::string("abc"), std::string("ab!="), std::string("===="), std::string("AAAA"),
        packed.substr(0, packed.size() - 4), other, "A" + packed.substr(1)}) {
    const auto refused = unpack(wrong, kPlenty);
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_EQ(refused.error().code, base::Code::kInvalidArgument) << wrong;
  }
}

}  // namespace
}  // namespace gangrun::net
