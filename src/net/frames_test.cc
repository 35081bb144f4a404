#include "net/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace gangrun::net {
namespace {

using namespace std::string_literals;

constexpr std::size_t kLimit = 1000;

TEST(Frames, AFrameBeginsWithItsLengthTheHighestByteFirst) {
  EXPECT_EQ(framed(""), "\0\0\0\0"s);
  EXPECT_EQ(framed("ab"), "\0\0\0\2ab"s);
  EXPECT_EQ(framed(std::string(258, 'x')).substr(0, 4), "\0\0\1\2"s);
}

TEST(Frames, NumbersComeBack) {
  std::string bytes;
  put_number(bytes, 0x0102, 4);
  put_number(bytes, std::uint64_t{0xff} << 56U, 8);
  EXPECT_EQ(bytes, "\0\0\1\2\xff\0\0\0\0\0\0\0"s);
  std::string_view rest = bytes;
  EXPECT_EQ(take_number(rest, 4), 0x0102U);
  EXPECT_EQ(take_number(rest, 8), std::uint64_t{0xff} << 56U);
  EXPECT_EQ(rest, "");
}

TEST(Frames, TheyComeOutHoweverTheStreamIsCut) {
  const std::string stream = framed("first") + framed("") + framed(std::string(300, 'x'));
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    FrameReader reader(kLimit);
    std::vector<std::string> frames;
    for (const std::string& part : {stream.substr(0, cut), stream.substr(cut)}) {
      reader.feed(part);
      while (true) {
        const auto frame = reader.next();
        ASSERT_TRUE(frame.ok());
        if (!*frame) break;
        frames.push_back(**frame);
      }
    }
    EXPECT_THAT(frames, testing::ElementsAre("first", "", std::string(300, 'x'))) << cut;
  }
}

TEST(Frames, AHugeOneIsRefusedBeforeItComes) {
  for (const std::string& bytes :
       {"HTTP/1.1 404 Not Found\r\n"s, "\xff\xff\xff\xff"s, "\0\0\3\xe9"s}) {
    FrameReader reader(kLimit);
    reader.feed(bytes);
    const auto frame = reader.next();
    ASSERT_FALSE(frame.ok());
    EXPECT_EQ(frame.error().code, base::Code::kDataLoss);
  }
  FrameReader reader(kLimit);
  reader.feed(framed(std::string(kLimit, 'x')));
  EXPECT_TRUE(reader.next()->has_value());
}

}  // namespace
}  // namespace gangrun::net
