#include "sasl/principal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::sasl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Principal parsed(std::string_view text) {
  const auto principal = parse_principal(text);
  EXPECT_TRUE(principal.ok()) << principal.error().message;
  return principal.ok() ? *principal : Principal{};
}

TEST(Principal, HasComponentsAndARealm) {
  EXPECT_EQ(parsed("alice@HADOOP.TEST"), (Principal{{"alice"}, "HADOOP.TEST"}));
  EXPECT_EQ(parsed("rm/host.example@R"), (Principal{{"rm", "host.example"}, "R"}));
  EXPECT_EQ(parsed("a/b/c@R"), (Principal{{"a", "b", "c"}, "R"}));
  EXPECT_EQ(parsed("alice"), (Principal{{"alice"}, ""}));
  EXPECT_EQ(short_name(parsed("rm/host@R")), "rm");
}

TEST(Principal, ABackslashTakesASeparatorForALetter) {
  EXPECT_THAT(parsed("a\\/b@R").components, ElementsAre("a/b"));
  EXPECT_THAT(parsed("a\\@b@R").components, ElementsAre("a@b"));
  EXPECT_THAT(parsed("a\\\\b").components, ElementsAre("a\\b"));
  EXPECT_EQ(parsed("a@R/S").realm, "R/S");
}

TEST(Principal, WhatIsWrittenIsReadAsTheSame) {
  for (const std::string text :
       {"alice@R", "rm/host@R", "a\\/b\\@c\\\\d@R", "alice", "a/b/c@R\\/S", "\xc3\xa4@R"}) {
    EXPECT_EQ(to_string(parsed(text)), text);
  }
}

TEST(Principal, WhatIsNoneIsRefusedWithTheReason) {
  for (const std::string text :
       {"", "@R", "a@", "a//b@R", "/a@R", "a/@R", "a@b@c", "a\\", "a\\n@R", "a\nb@R", "\xff@R"}) {
    EXPECT_FALSE(parse_principal(text).ok()) << text;
  }
  EXPECT_FALSE(parse_principal(std::string("a\0b", 3)).ok());
  EXPECT_FALSE(parse_principal(std::string(kMaxPrincipalBytes + 1, 'a')).ok());
  EXPECT_THAT(parse_principal("a@b@c").error().message,
              HasSubstr("\"a@b@c\" is not a Kerberos principal: it has two realms"));
}

TEST(Principal, TheHostTakesThePlaceOfItsPattern) {
  EXPECT_EQ(to_string(with_host(parsed("rm/_HOST@R"), "Node1.Example")), "rm/node1.example@R");
  EXPECT_EQ(to_string(with_host(parsed("rm/other@R"), "node1")), "rm/other@R");
  EXPECT_EQ(to_string(with_host(parsed("_HOST@R"), "node1")), "_HOST@R");
  EXPECT_EQ(to_string(with_host(parsed("rm/x_HOST@R"), "node1")), "rm/x_HOST@R");
}

TEST(Principal, APatternHasStarsAndQuestionMarks) {
  for (const auto& [pattern, text] :
       std::vector<std::pair<std::string, std::string>>{{"*", ""},
                                                        {"*", "rm/a@R"},
                                                        {"rm/*@R", "rm/a.b@R"},
                                                        {"rm/?@R", "rm/a@R"},
                                                        {"", ""},
                                                        {"**a", "ba"},
                                                        {"*ab", "aab"}}) {
    EXPECT_TRUE(fits_pattern(pattern, text)) << pattern << " " << text;
  }
  for (const auto& [pattern, text] : std::vector<std::pair<std::string, std::string>>{
           {"", "a"}, {"rm/*@R", "nm/a@R"}, {"rm/*@R", "rm/a@S"}, {"?", ""}, {"a", "ab"}}) {
    EXPECT_FALSE(fits_pattern(pattern, text)) << pattern << " " << text;
  }
}

// Found by the fuzzer: the slashes of a realm are escaped where it is written again.
TEST(Principal, WhatIsTakenCanBeWrittenAndTakenAgain) {
  const std::string half(kMaxPrincipalBytes / 2, '/');
  EXPECT_FALSE(parse_principal("ann@" + half).ok());
  const auto shorter = parse_principal("ann@" + half.substr(4));
  ASSERT_TRUE(shorter.ok()) << shorter.error().message;
  EXPECT_EQ(*parse_principal(to_string(*shorter)), *shorter);
}

}  // namespace
}  // namespace gangrun::sasl
