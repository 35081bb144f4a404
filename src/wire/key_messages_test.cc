#include "wire/key_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/described_json.h"
#include "base/test_described.h"
#include "wire/agent_questions.h"

namespace gangrun::wire {
namespace {

using testing::HasSubstr;

template <typename T>
void expect_back(const T& value) {
  const auto again = base::from_json<T>(base::to_json(value));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, value);
}

TEST(KeyMessagesTest, AreInTheDocument) {
  base::expect_table_in_document("docs/protocols/keys.md", "members of the questions of keys",
                                 {{"kv", base::members_of<KeyQuestion>()},
                                  {"kv, said", base::members_of<KeyAnswer>()},
                                  {"barrier", base::members_of<BarrierQuestion>()},
                                  {"barrier, said", base::members_of<BarrierAnswer>()},
                                  {"cancel", base::members_of<CancelQuestion>()}});
}

// The first byte of an input says which of them it is (fuzz/keys_fuzz.cc).
TEST(KeyMessagesTest, AreInTheFuzzersCorpus) {
  auto question = base::sample_of<KeyQuestion>();
  question.change = 1;  // its action is a put
  base::expect_sample_in_corpus("keys/message_kv", "\x01", question);
  base::expect_sample_in_corpus("keys/message_barrier", "\x02", base::sample_of<BarrierQuestion>());
  base::expect_sample_in_corpus("keys/message_result", "\x04", base::sample_of<ResultPart>());
  base::expect_sample_in_corpus("keys/message_tokens", "\x05", base::sample_of<Tokens>());
  base::expect_sample_in_corpus("keys/message_outputs", "\x06", base::sample_of<OutputsPart>());
}

TEST(KeyMessagesTest, AllComeBack) {
  expect_back(KeyQuestion{.action = KeyAction::kPut,
                          .key = "a",
                          .value = std::string("\0", 1),
                          .change = 4,
                          .attempt = 2});
  expect_back(KeyQuestion{.action = KeyAction::kList, .key = "a", .after = "ab"});
  expect_back(KeyQuestion{.action = KeyAction::kList});
  expect_back(KeyAnswer{.found = true, .value = "x", .keys = {"a"}, .more = true});
  expect_back(
      BarrierQuestion{.name = "b", .generation = 2, .tasks = 3, .process = 1, .processes = 2});
  expect_back(BarrierAnswer{.is_complete = false,
                            .round = 2,
                            .come = {{"worker", 1}},
                            .partly = {{{"ps", 0}, 1}},
                            .gone = {{"worker", 2}}});
  expect_back(CancelQuestion{7});
}

TEST(KeyMessagesTest, WhatCannotBeIsRefused) {
  const auto of_key = [](const char* text) {
    return base::from_json<KeyQuestion>(*base::parse_json(text, 1000)).error().message;
  };
  EXPECT_THAT(of_key(R"({"action":"get","key":"a b"})"),
              HasSubstr("\"key\" must be from 1 to 200"));
  EXPECT_THAT(of_key(R"({"action":"get"})"), HasSubstr("\"key\""));
  EXPECT_THAT(of_key(R"({"action":"put","key":"a","value":""})"), HasSubstr("\"change\""));
  EXPECT_THAT(of_key(R"({"action":"get","key":"a","change":1})"), HasSubstr("\"change\""));
  const BarrierQuestion wrong{.name = "b", .process = 2, .processes = 2};
  EXPECT_THAT(base::from_json<BarrierQuestion>(base::to_json(wrong)).error().message,
              HasSubstr("\"process\" must be less"));
  EXPECT_FALSE(base::from_json<BarrierQuestion>(base::to_json(BarrierQuestion{.name = ""})).ok());
}

TEST(KeyMessagesTest, KeysArePrintable) {
  EXPECT_TRUE(is_key("a/b:c~"));
  EXPECT_TRUE(is_key(std::string(kMaxKeyBytes, 'k')));
  for (const std::string& text :
       {std::string(), std::string(kMaxKeyBytes + 1, 'k'), std::string("a b"),
        std::string("\xc3\xa4"), std::string("a\n"), std::string("a\0", 2)}) {
    EXPECT_FALSE(is_key(text)) << text;
  }
}

}  // namespace
}  // namespace gangrun::wire
