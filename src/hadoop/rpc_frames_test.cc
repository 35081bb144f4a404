#include "hadoop/rpc_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hadoop/test_server.h"

namespace gangrun::hadoop {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

constexpr std::string_view kProtocol = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB";
const std::string kClientId(16, 'c');

// The frames of an insecure login and a first call, as they were recorded.
TEST(RpcFrames, ACallIsWrittenAsTheDaemonsExpectIt) {
  EXPECT_EQ(encode_preamble(false), "hrpc\x09\x00\x00"s);
  EXPECT_EQ(encode_preamble(true), "hrpc\x09\x00\xdf"s);
  const std::string id = "\x22\x10" + kClientId;
  EXPECT_EQ(encode_context(kClientId, kProtocol, "alice", ""),
            "\0\0\0\x5d\x1a\x08\x02\x10\x00\x18\x05"s + id + "\x28\x01" + "\x41\x12\x07\x0a\x05" +
                "alice\x1a\x36" + std::string(kProtocol));
  EXPECT_EQ(encode_call(kClientId, 0, kProtocol, "getClusterMetrics", ""),
            "\0\0\0\x6a\x1a\x08\x02\x10\x00\x18\x00"s + id + "\x28\x00\x4d\x0a\x11"s +
                "getClusterMetrics\x12\x36" + std::string(kProtocol) + "\x18\x01\x00"s);
}

TEST(RpcFrames, AContextAfterATokenNamesNobody) {
  EXPECT_THAT(encode_context(kClientId, "P", "", ""), testing::EndsWith("\x03\x1a\x01P"));
  // UserInformationProto: effectiveUser is its field 1, realUser 2.
  EXPECT_THAT(encode_context(kClientId, "P", "bob", "alice"), testing::EndsWith("\x12\x0c\x0a\x03"
                                                                                "bob\x12\x05"
                                                                                "alice\x1a\x01P"));
}

TEST(RpcFrames, TheFirstSaslMessageIsWrittenAsTheDaemonsExpectIt) {
  EXPECT_EQ(encode_sasl({.state = SaslMessage::State::kNegotiate}),
            "\0\0\0\x0e\x0a\x08\x02\x10\x00\x18\x41\x22\x00\x28\x01\x02\x10\x01"s);
}

TEST(RpcFrames, AResponseHasItsBodyOrItsError) {
  const auto success = parse_response(success_frame(4, "body").substr(4));
  ASSERT_TRUE(success.ok()) << success.error().message;
  EXPECT_EQ(success->call_id, 4);
  EXPECT_EQ(success->body, "body");
  const auto fatal = parse_response(
      error_frame(kSaslCallId, RpcResponse::Status::kFatal, "a.b.C", "why\n\tat x").substr(4));
  ASSERT_TRUE(fatal.ok());
  EXPECT_EQ(fatal->call_id, kSaslCallId);
  EXPECT_EQ(fatal->status, RpcResponse::Status::kFatal);
  EXPECT_EQ(fatal->exception_class, "a.b.C");
  EXPECT_EQ(fatal->error_text, "why\n\tat x");
}

TEST(RpcFrames, APartOfAResponseIsRefusedAtEveryLength) {
  const std::string whole = success_frame(4, "body").substr(4);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(parse_response(std::string_view(whole).substr(0, length)).ok()) << length;
  }
  EXPECT_FALSE(parse_response("\x02\xff\xff").ok());
}

TEST(RpcFrames, ASaslMessageIsReadAsItWasWritten) {
  const SaslMessage message{
      .state = SaslMessage::State::kInitiate,
      .token = "to\0ken"s,
      .offers = {{.method = "TOKEN",
                  .mechanism = "DIGEST-MD5",
                  .protocol = "",
                  .server_id = "default",
                  .challenge = "realm"},
                 {.method = "SIMPLE", .mechanism = ""}},
  };
  const std::string frame = encode_sasl(message);
  // A client's header is longer than a server's; what follows it is the same for both.
  const auto parsed = parse_sasl(std::string_view(frame).substr(4 + 1 + 10 + 1));
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(*parsed, message);
  EXPECT_FALSE(parse_sasl("\x08").ok());
}

TEST(ResponseReader, ResponsesComeOutHoweverTheStreamIsCut) {
  const std::string stream =
      success_frame(1, "a") +
      error_frame(2, RpcResponse::Status::kError, "c", std::string(200, 't')) +
      success_frame(3, "");
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    ResponseReader reader;
    std::vector<std::int32_t> ids;
    for (const std::string& part : {stream.substr(0, cut), stream.substr(cut)}) {
      reader.feed(part);
      while (true) {
        const auto response = reader.next();
        ASSERT_TRUE(response.ok());
        if (!*response) break;
        ids.push_back((*response)->call_id);
      }
    }
    EXPECT_EQ(ids, (std::vector<std::int32_t>{1, 2, 3})) << cut;
  }
}

TEST(ResponseReader, WhatIsNoResponseIsAnError) {
  ResponseReader reader;
  reader.feed(net::framed("\x7f"));
  EXPECT_FALSE(reader.next().ok());
}

}  // namespace
}  // namespace gangrun::hadoop
