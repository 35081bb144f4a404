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

TEST(LastWords, WhereLittleIsKeptTheEndOfTheRunIsWhatCounts) {
  constexpr std::size_t kLimit = 2048;
  LastWords words{.why = "no answer for 5 s", .lost_master = true, .run = RunEnd{.attempt = 2}};
  EXPECT_EQ(to_short_text(words, kLimit), to_text(words));
  words.run->report.why = {.reason = Reason::kExitStatus, .code = 3};
  LastWords without_lines = words;
  words.run->report.last_lines.assign(kLastLines, std::string(200, 'x'));
  words.run->report.traceback = std::string(3000, 'y');
  EXPECT_EQ(last_words_from(to_short_text(words, kLimit)), without_lines);
}

TEST(LastWords, WhateverIsSaidTheShortTextIsShort) {
  for (const std::string& why : {std::string(5000, 'x'), std::string(5000, '\x01')}) {
    LastWords words{.why = why, .lost_master = true, .run = RunEnd{.attempt = 2}};
    words.run->report.why.detail = why;
    const std::string text = to_short_text(words, 2048);
    EXPECT_LE(text.size(), 2048U);
    EXPECT_TRUE(last_words_from(text).lost_master) << text;
  }
}

TEST(LastWords, OtherTextIsTheReason) {
  for (const std::string text :
       {"cannot fork", "", "{}", R"({"why":"x"})", R"({"why":"x","lost_master":true,"run":{}})"}) {
    EXPECT_EQ(last_words_from(text), (LastWords{.why = text, .run = std::nullopt})) << text;
  }
}

}  // namespace
}  // namespace gangrun::job
