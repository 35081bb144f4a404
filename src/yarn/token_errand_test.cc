#include "yarn/token_errand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/described.h"

namespace gangrun::yarn {
namespace {

using testing::HasSubstr;

const TokenErrand kErrand{.hadoop = {{"fs.defaultFS", "hdfs://nn:8020"}},
                          .user = "ana",
                          .principal = "ana@R",
                          .keytab = "gangrun-keytab",
                          .krb5_config = "",
                          .file_systems = {"hdfs://other:8020"},
                          .output = "new-tokens"};

TEST(TokenErrand, ComesBackFromJson) {
  const auto got = base::from_json<TokenErrand>(base::to_json(kErrand));
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(*got, kErrand);
}

TEST(TokenErrand, EveryMemberIsNeeded) {
  const base::Json whole = base::to_json(kErrand);
  for (const auto& [name, value] : whole.items()) {
    base::Json without = whole;
    without.erase(name);
    EXPECT_FALSE(base::from_json<TokenErrand>(without).ok()) << name;
    without[name] = 7;
    EXPECT_FALSE(base::from_json<TokenErrand>(without).ok()) << name;
  }
}

TEST(TokenErrand, TheAnswerIsFoundAmongWarnings) {
  const base::WallTime ends(base::milliseconds(1'700'000'000'000));
  EXPECT_EQ(*token_answer_from("a warning\n" + token_answer(ends) + "\n"), ends);
  const auto none = token_answer_from("gangrun: no KDC answers\n\n");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("no KDC answers"));
  EXPECT_FALSE(token_answer_from("").ok());
  EXPECT_FALSE(token_answer_from("tokens are good until tomorrow").ok());
}

}  // namespace
}  // namespace gangrun::yarn
