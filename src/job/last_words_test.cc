#include "job/last_words.h"

#include <gtest/gtest.h>

namespace gangrun::job {
namespace {

TEST(LastWords, GoThroughTheirText) {
  LastWords words{.why = "no answer for 5 s", .lost_master = true, .run = std::nullopt};
  EXPECT_EQ(last_words_from(to_text(words)), words);
  words.run = RunEnd{.attempt = 2, .report = {.success = true}};
  EXPECT_EQ(last_words_from(to_text(words)), words);
}

TEST(LastWords, OtherTextIsTheReason) {
  for (const std::string text :
       {"cannot fork", "", "{}", R"({"why":"x"})", R"({"why":"x","lost_master":true,"run":{}})"}) {
    EXPECT_EQ(last_words_from(text), (LastWords{.why = text, .run = std::nullopt})) << text;
  }
}

}  // namespace
}  // namespace gangrun::job
