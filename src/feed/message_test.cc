#include "feed/message.h"

#include <gtest/gtest.h>

#include <string>

namespace gangrun::feed {
namespace {

TEST(Message, IsReadAsItWasWritten) {
  const Message message{
      .type = MessageType::kTurn, .a = 1, .b = ~std::uint64_t{0}, .c = 3, .text = "x"};
  EXPECT_EQ(decode(encode(message)).value(), message);
  EXPECT_EQ(decode(encode({})).value(), Message{});
}

TEST(Message, ALongTextIsCut) {
  const auto read = decode(encode({.type = MessageType::kRefused, .text = std::string(5000, 'x')}));
  ASSERT_TRUE(read.ok());
  EXPECT_LE(read->text.size(), kMaxTextBytes);
  EXPECT_GT(read->text.size(), kMaxTextBytes - 10);
}

TEST(Message, EveryPartOfOneAndEveryOtherByteInItsHeadIsNone) {
  const std::string good = encode({.type = MessageType::kEnd});
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(decode(good.substr(0, size)).ok()) << size;
  }
  for (std::size_t at = 0; at < 6; ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x55);
    EXPECT_FALSE(decode(bad).ok()) << at;
  }
  EXPECT_FALSE(decode(std::string(kMaxMessageBytes + 1, 'x')).ok());
}

TEST(Message, AnotherVersionIsToldAsThat) {
  std::string other = encode({.type = MessageType::kHello});
  other[4] = 9;
  const auto read = decode(other);
  EXPECT_EQ(read.error().code, base::Code::kFailedPrecondition);
  EXPECT_NE(read.error().message.find("version 9"), std::string::npos);
}

TEST(Message, UnknownTypesAreRefused) {
  for (const char type : {'\0', '\x09', '\x7f'}) {
    std::string other = encode({.type = MessageType::kHello});
    other[6] = type;
    EXPECT_FALSE(decode(other).ok());
  }
}

}  // namespace
}  // namespace gangrun::feed
