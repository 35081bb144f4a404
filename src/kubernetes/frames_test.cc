#include "kubernetes/frames.h"

#include <gtest/gtest.h>

namespace gangrun::kubernetes {
namespace {

using base::Code;
using Kind = PortFrames::Kind;
using namespace std::string_literals;  // NOLINT: bytes with zeros in them

TEST(Frames, AMessageBeginsWithItsStream) {
  EXPECT_FALSE(read_frame("").has_value());
  EXPECT_EQ(read_frame("\x01hello")->channel, kOutputChannel);
  EXPECT_EQ(read_frame("\x01hello")->bytes, "hello");
  EXPECT_EQ(read_frame("\xff")->channel, 255);
  EXPECT_EQ(make_port_frame("a"), "\0a"s);
}

TEST(Frames, HowACommandEnded) {
  EXPECT_EQ(read_exit_status(R"({"metadata":{},"status":"Success"})").value_or(-1), 0);
  EXPECT_EQ(
      read_exit_status(
          R"({"metadata":{},"status":"Failure","message":"command terminated with non-zero exit
                code","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode",
                "message":"3"}]}})")
          .value_or(-1),
      -1);  // a line break in a string is no JSON
  EXPECT_EQ(read_exit_status(R"({"status":"Failure","reason":"NonZeroExitCode",
                "details":{"causes":[{"reason":"Other"},5,{"reason":"ExitCode","message":"3"}]}})")
                .value_or(-1),
            3);
}

TEST(Frames, ACommandThatDidNotRun) {
  const auto failed = read_exit_status(
      R"({"status":"Failure","message":"no such file","reason":"InternalError","code":500})");
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, Code::kUnavailable);
  EXPECT_EQ(failed.error().message, "the API server says \"no such file\"");
  for (const char* text :
       {"", "5", "{}", "x", R"({"status":"Failure","details":{"causes":{}}})",
        R"({"status":"Failure","details":{"causes":[{"reason":"ExitCode","message":"300"}]}})"}) {
    const auto result = read_exit_status(text);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_FALSE(result.error().message.empty());
  }
}

TEST(Frames, AForwardedPort) {
  PortFrames frames(8080);  // 0x1f90
  EXPECT_EQ(frames.take("\x01\x90\x1f")->kind, Kind::kNothing);
  EXPECT_EQ(frames.take("\0\x90\x1f"s)->kind, Kind::kOpen);
  EXPECT_EQ(frames.take("\0"s)->kind, Kind::kNothing);
  EXPECT_EQ(frames.take("")->kind, Kind::kNothing);
  EXPECT_EQ(frames.take("\0\x90\x1f"s)->kind, Kind::kBytes);
  EXPECT_EQ(frames.take("\0abc"s)->bytes, "abc");
  const auto refused = frames.take(
      "\x01"
      "connection refused");
  EXPECT_EQ(refused->kind, Kind::kRefused);
  EXPECT_EQ(refused->bytes, "connection refused");
}

TEST(Frames, WhatIsNoForwardedPort) {
  EXPECT_EQ(PortFrames(80).take("\x02\x50\0"s).error().code, Code::kDataLoss);
  EXPECT_EQ(PortFrames(80).take("\0\x50"s).error().code, Code::kDataLoss);
  EXPECT_EQ(PortFrames(80).take("\0\x51\0"s).error().code, Code::kDataLoss);
  EXPECT_EQ(PortFrames(80).take("\xff\x50\0"s).error().code, Code::kDataLoss);
}

}  // namespace
}  // namespace gangrun::kubernetes
