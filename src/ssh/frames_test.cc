#include "ssh/frames.h"

#include <gtest/gtest.h>

#include <vector>

namespace gangrun::ssh {
namespace {

TEST(Frames, ComeBackHoweverTheyAreCut) {
  const std::string binary("a\0b\xff", 4);
  std::string bytes;
  bytes += to_bytes(MessageFrame{{{"op", "end"}}});
  bytes += to_bytes(OpenFrame{7});
  bytes += to_bytes(StreamFrame{0x01020304, binary});
  bytes += to_bytes(StreamFrame{8, ""});
  bytes += to_bytes(LogFrame{3, true, std::uint64_t{5} << 32U, binary});
  bytes += to_bytes(FileFrame{binary});
  for (const std::size_t step : {std::size_t{1}, std::size_t{3}, bytes.size()}) {
    FrameReader reader;
    std::vector<std::string> kinds;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      reader.add(std::string_view(bytes).substr(at, step));
      while (true) {
        auto frame = reader.next();
        ASSERT_TRUE(frame.ok()) << frame.error().message;
        if (!*frame) break;
        kinds.push_back(to_bytes(**frame));
      }
    }
    std::string again;
    for (const std::string& kind : kinds) again += kind;
    EXPECT_EQ(kinds.size(), 6U);
    EXPECT_EQ(again, bytes);
  }
}

TEST(Frames, HaveTheirNumbersWhereTheOtherSideLooks) {
  FrameReader reader;
  reader.add(to_bytes(LogFrame{9, false, 1 << 20, "text"}));
  const auto frame = reader.next();
  ASSERT_TRUE(frame.ok() && *frame);
  const auto& log = std::get<LogFrame>(**frame);
  EXPECT_EQ(log.agent, 9U);
  EXPECT_FALSE(log.is_error);
  EXPECT_EQ(log.offset, 1U << 20U);
  EXPECT_EQ(log.content, "text");
}

TEST(Frames, WhatIsNoneIsAnError) {
  for (const std::string& bytes : {std::string("\0\0\0\0x", 5), std::string("\xff\xff\xff\xff", 4),
                                   std::string("\0\0\0\1?", 5), std::string("\0\0\0\3Oab", 7),
                                   std::string("\0\0\0\2M{", 6), std::string("HTTP/1.1 200\r\n")}) {
    FrameReader reader;
    reader.add(bytes);
    EXPECT_FALSE(reader.next().ok()) << bytes;
  }
}

}  // namespace
}  // namespace gangrun::ssh
