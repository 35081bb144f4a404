#include "sasl/gssapi_mechanism.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sasl/test_identity.h"

namespace gangrun::sasl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<Protection> kAll{Protection::kAuthentication, Protection::kIntegrity,
                                   Protection::kPrivacy};

Gssapi mechanism(std::vector<Protection> accepted = kAll, int rounds = 1) {
  return Gssapi(std::make_unique<TestContext>(rounds), std::move(accepted), "the site");
}

// Up to the offer of layers.
void begin(Gssapi& sasl) {
  EXPECT_EQ(*sasl.respond(""), "ticket");
  EXPECT_EQ(*sasl.respond("server"), "");
}

std::string bytes(const char* text, std::size_t size) { return {text, size}; }

TEST(GssapiMechanism, LayersAreABitEachAndASizeInThreeBytes) {
  const auto all = parse_security_layers(bytes("\x07\x01\x00\x00", 4));
  ASSERT_TRUE(all.ok());
  EXPECT_THAT(all->offered, ElementsAre(Protection::kPrivacy, Protection::kIntegrity,
                                        Protection::kAuthentication));
  EXPECT_EQ(all->max_bytes, 65536U);
  EXPECT_EQ(encode_security_layer(Protection::kPrivacy, 0xffffff), "\x04\xff\xff\xff");
  EXPECT_EQ(encode_security_layer(Protection::kAuthentication, 0), bytes("\x01\0\0\0", 4));
  for (const std::string& wrong :
       {bytes("\x07\x01\x00", 3), bytes("\x07\x01\x00\x00\x00", 5), bytes("\x08\x01\x00\x00", 4)}) {
    EXPECT_EQ(parse_security_layers(wrong).error().code, base::Code::kUnauthenticated);
  }
}

TEST(GssapiMechanism, GoesFromTheTicketToTheLayer) {
  Gssapi sasl = mechanism();
  begin(sasl);
  EXPECT_EQ(*sasl.respond("s:\x07\x0f\xff\xff"), "s:\x04\xff\xff\xff");
  EXPECT_TRUE(sasl.finish("").ok());
  EXPECT_EQ(sasl.protection(), Protection::kPrivacy);
  EXPECT_EQ(sasl.max_piece_bytes(), 65534U);
  EXPECT_EQ(*sasl.wrap("x"), "e:x");
  EXPECT_EQ(*sasl.unwrap("e:y"), "y");
  EXPECT_THAT(sasl.unwrap("s:y").error().message, HasSubstr("has to be encrypted"));
  EXPECT_FALSE(sasl.unwrap("z").ok());
}

TEST(GssapiMechanism, TheStrongestThatBothAcceptIsTaken) {
  Gssapi integrity = mechanism();
  begin(integrity);
  EXPECT_EQ(*integrity.respond("s:\x03\x0f\xff\xff"), "s:\x02\xff\xff\xff");
  EXPECT_EQ(*integrity.wrap("x"), "s:x");
  EXPECT_EQ(*integrity.unwrap("s:y"), "y");
  Gssapi plain = mechanism({Protection::kAuthentication});
  begin(plain);
  EXPECT_EQ(*plain.respond("s:\x07\x0f\xff\xff"), "s:" + bytes("\x01\0\0\0", 4));
  EXPECT_EQ(plain.protection(), Protection::kAuthentication);
}

TEST(GssapiMechanism, WithoutACommonLayerBothSidesAreNamed) {
  Gssapi sasl = mechanism({Protection::kPrivacy});
  begin(sasl);
  EXPECT_EQ(sasl.respond("s:" + bytes("\x01\0\0\0", 4)).error().message,
            "GSSAPI: the server offers the protection authentication, the site wants privacy");
}

TEST(GssapiMechanism, ALastTokenOfOursIsSentBeforeTheLayers) {
  Gssapi sasl = mechanism(kAll, 2);
  EXPECT_EQ(*sasl.respond(""), "ticket");
  EXPECT_EQ(*sasl.respond("server"), "ticket2");
  EXPECT_EQ(*sasl.respond("s:\x02\x0f\xff\xff"), "s:\x02\xff\xff\xff");
}

TEST(GssapiMechanism, WhatIsOutOfItsOrderIsRefused) {
  Gssapi early = mechanism();
  EXPECT_FALSE(early.finish("").ok());
  EXPECT_FALSE(early.respond("server").ok());
  Gssapi again = mechanism();
  ASSERT_TRUE(again.respond("").ok());
  EXPECT_FALSE(again.respond("").ok());
  EXPECT_FALSE(again.finish("").ok());
  Gssapi other = mechanism();
  ASSERT_TRUE(other.respond("").ok());
  EXPECT_FALSE(other.respond("somebody else").ok());
  Gssapi late = mechanism();
  begin(late);
  EXPECT_FALSE(late.respond("forged").ok());
  ASSERT_TRUE(late.respond("s:\x01\x0f\xff\xff").ok());
  EXPECT_FALSE(late.respond("s:\x01\x0f\xff\xff").ok());
  EXPECT_FALSE(late.finish("more").ok());
}

TEST(GssapiMechanism, AServerThatTakesNothingAtOnceIsRefused) {
  Gssapi sasl = mechanism();
  begin(sasl);
  EXPECT_THAT(sasl.respond("s:" + bytes("\x04\0\0\x10", 4)).error().message,
              HasSubstr("takes 16 bytes at once"));
}

}  // namespace
}  // namespace gangrun::sasl
