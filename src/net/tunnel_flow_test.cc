#include "net/tunnel_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::net {
namespace {

using testing::HasSubstr;

std::string error_of(TunnelFlow& flow, std::string_view message) {
  const auto read = flow.on_message(message);
  return read.ok() ? "none" : read.error().message;
}

TEST(TunnelFlow, BytesGoThroughAsTheyAre) {
  TunnelFlow one;
  TunnelFlow other;
  const std::string bytes("\0\xff\r\n d", 6);
  const std::string message = one.data(bytes);
  const auto read = other.on_message(message);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(std::get<TunnelData>(*read).bytes, bytes);
}

TEST(TunnelFlow, NoMoreIsSentThanTheWindowHasUntilTheOtherSideTookSome) {
  TunnelFlow one;
  TunnelFlow other;
  std::size_t sent = 0;
  while (one.may_send() > 0) {
    const std::string bytes(one.may_send(), 'x');
    sent += bytes.size();
    ASSERT_TRUE(other.on_message(one.data(bytes)).ok());
  }
  EXPECT_EQ(sent, kTunnelWindowBytes);
  EXPECT_FALSE(other.taken(1)) << "little is not worth a message";
  const auto told = other.taken(kTunnelWindowBytes / 2);
  ASSERT_TRUE(told);
  ASSERT_TRUE(one.on_message(*told).ok());
  EXPECT_EQ(one.on_the_way(), kTunnelWindowBytes / 2 - 1);
  EXPECT_EQ(one.may_send(), kMaxTunnelDataBytes);
}

TEST(TunnelFlow, AtTheEndAllThatWasTakenIsTold) {
  TunnelFlow one;
  TunnelFlow other;
  ASSERT_TRUE(other.on_message(one.data("last")).ok());
  ASSERT_TRUE(other.on_message(one.end()).ok());
  EXPECT_TRUE(one.has_ended());
  EXPECT_TRUE(other.other_has_ended());
  EXPECT_FALSE(other.taken(3));
  const auto told = other.taken(1);
  ASSERT_TRUE(told);
  ASSERT_TRUE(one.on_message(*told).ok());
  EXPECT_EQ(one.on_the_way(), 0U);
  EXPECT_EQ(one.may_send(), 0U) << "nothing follows the end";
  // The other direction is open.
  ASSERT_TRUE(one.on_message(other.data("answer")).ok());
}

TEST(TunnelFlow, WhatWasTakenBeforeTheEndIsToldWithIt) {
  TunnelFlow one;
  TunnelFlow other;
  ASSERT_TRUE(other.on_message(one.data("early")).ok());
  EXPECT_FALSE(other.taken(5));
  ASSERT_TRUE(other.on_message(one.end()).ok());
  ASSERT_TRUE(other.taken(0));
  EXPECT_FALSE(other.taken(0)) << "once";
}

TEST(TunnelFlow, WhoBreaksTheRulesIsTold) {
  const auto after = [](const std::vector<std::string>& messages) {
    TunnelFlow flow;
    for (std::size_t i = 0; i + 1 < messages.size(); ++i) {
      EXPECT_TRUE(flow.on_message(messages[i]).ok()) << messages[i].substr(0, 10);
    }
    return error_of(flow, messages.back());
  };
  EXPECT_THAT(after({""}), HasSubstr("empty"));
  EXPECT_THAT(after({"x"}), HasSubstr("unknown kind"));
  EXPECT_THAT(after({"d"}), HasSubstr("no bytes"));
  EXPECT_THAT(after({"ox"}), HasSubstr("too long"));
  EXPECT_THAT(after({"e", "e"}), HasSubstr("ends twice"));
  EXPECT_THAT(after({"e", "dx"}), HasSubstr("goes on after its end"));
  EXPECT_THAT(after({"t1"}), HasSubstr("takes what was not sent"));
  EXPECT_THAT(after({"t-1"}), HasSubstr("takes what was not sent"));
  EXPECT_THAT(after({"t"}), HasSubstr("takes what was not sent"));
  EXPECT_THAT(after({"d" + std::string(kMaxTunnelDataBytes + 1, 'x')}), HasSubstr("more than it"));
  std::vector<std::string> full(kTunnelWindowBytes / kMaxTunnelDataBytes,
                                "d" + std::string(kMaxTunnelDataBytes, 'x'));
  full.emplace_back("dx");
  EXPECT_THAT(after(full), HasSubstr("more than it may"));
}

}  // namespace
}  // namespace gangrun::net
