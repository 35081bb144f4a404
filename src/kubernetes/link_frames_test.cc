#include "kubernetes/link_frames.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace gangrun::kubernetes {
namespace {

using namespace std::string_literals;

TEST(LinkFrames, ComeBackHoweverTheyAreCut) {
  const std::string binary("a\0b\xff", 4);
  std::string bytes;
  for (const LinkFrame& frame :
       {LinkFrame(HereFrame{"10.0.0.7:4000"}), LinkFrame(CarryFrame{}), LinkFrame(PingFrame{}),
        LinkFrame(AnswerFrame{}), LinkFrame(HintFrame{2, "10.0.0.7:4000"}),
        LinkFrame(net::OpenFrame{7}), LinkFrame(net::StreamFrame{0x01020304, binary}),
        LinkFrame(net::StreamFrame{8, ""})}) {
    bytes += to_bytes(frame);
  }
  for (const std::size_t step : {std::size_t{1}, std::size_t{3}, bytes.size()}) {
    LinkReader reader;
    std::string again;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      reader.add(std::string_view(bytes).substr(at, step));
      while (true) {
        const auto frame = reader.next();
        ASSERT_TRUE(frame.ok()) << frame.error().message;
        if (!*frame) break;
        again += to_bytes(**frame);
      }
    }
    EXPECT_EQ(again, bytes);
  }
}

TEST(LinkFrames, HaveTheBytesThatAreWrittenDown) {
  EXPECT_EQ(to_bytes(HereFrame{"a:1"}), "\0\0\0\4Ha:1"s);
  EXPECT_EQ(to_bytes(CarryFrame{}), "\0\0\0\1C"s);
  EXPECT_EQ(to_bytes(PingFrame{}), "\0\0\0\1P"s);
  EXPECT_EQ(to_bytes(AnswerFrame{}), "\0\0\0\1A"s);
  EXPECT_EQ(to_bytes(HintFrame{3, "a:1"}), "\0\0\0\10T\0\0\0\3a:1"s);
  EXPECT_EQ(to_bytes(net::OpenFrame{258}), "\0\0\0\5O\0\0\1\2"s);
  EXPECT_EQ(to_bytes(net::StreamFrame{1, "dx"}), "\0\0\0\7S\0\0\0\1dx"s);
  EXPECT_EQ(to_bytes(to_frame(net::StreamFrame{1, ""})), "\0\0\0\5S\0\0\0\1"s);
}

TEST(LinkFrames, WhatIsNoneIsAnError) {
  for (const std::string& bytes :
       {"\0\0\0\0x"s, "\xff\xff\xff\xff"s, "\0\0\0\1?"s, "\0\0\0\3Oab"s, "\0\0\0\6O\0\0\0\1x"s,
        "\0\0\0\3Sab"s, "\0\0\0\2Px"s, "\0\0\0\2Cx"s, "\0\0\0\2Ax"s, "\0\0\0\2Tx"s,
        "HTTP/1.1 200\r\n"s}) {
    LinkReader reader;
    reader.add(bytes);
    EXPECT_FALSE(reader.next().ok()) << bytes;
  }
}

}  // namespace
}  // namespace gangrun::kubernetes
