#include "agents/key_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace gangrun::agents {
namespace {

using testing::HasSubstr;

const job::TaskId kTask{"worker", 3};

KeptKeys some() {
  KeptKeys kept;
  (void)kept.store.apply({"a", std::string("\0\xff", 2), kTask, 2, 7});
  (void)kept.store.apply({"b", "", kTask, 2, 8});
  (void)kept.barriers.release(4, "meet", 12);
  return kept;
}

void expect_same(const KeptKeys& kept, const KeptKeys& other) {
  EXPECT_EQ(kept.store.keys(), other.store.keys());
  EXPECT_EQ(kept.store.made(), other.store.made());
  EXPECT_EQ(kept.store.bytes(), other.store.bytes());
  EXPECT_EQ(kept.barriers.released(), other.barriers.released());
  EXPECT_EQ(kept.barriers.generation(), other.barriers.generation());
}

TEST(KeyRecordsTest, WhatIsKeptComesBack) {
  KeptKeys kept;
  ASSERT_TRUE(replay(lines_of(some()), kept).ok());
  expect_same(kept, some());
}

TEST(KeyRecordsTest, ChangesFollow) {
  KeptKeys kept;
  const std::string text = lines_of(some()) + line_of(record_of({"b", std::nullopt, kTask, 2, 9})) +
                           line_of(record_of({"c", "x", kTask, 3, 1})) +
                           line_of(record_of_round(5, "meet", 1));
  ASSERT_TRUE(replay(text, kept).ok());
  KeptKeys expected = some();
  (void)expected.store.apply({"b", std::nullopt, kTask, 2, 9});
  (void)expected.store.apply({"c", "x", kTask, 3, 1});
  (void)expected.barriers.begin(5);
  (void)expected.barriers.release(5, "meet", 1);
  expect_same(kept, expected);
}

TEST(KeyRecordsTest, ASegmentThatWasCutSaysWhatWasWhole) {
  const std::string begun = lines_of(some());
  const std::string text = begun + line_of(record_of({"c", "x", kTask, 3, 1}));
  for (std::size_t length = 0; length <= text.size(); ++length) {
    KeptKeys kept;
    (void)kept.store.apply({"before", "", kTask, 1, 1});
    ASSERT_TRUE(replay(text.substr(0, length), kept).ok()) << length;
    if (length < begun.size()) {
      EXPECT_NE(kept.store.find("before"), nullptr) << length;
    } else {
      EXPECT_EQ(kept.store.find("before"), nullptr) << length;
      EXPECT_EQ(kept.store.find("c") != nullptr, length == text.size()) << length;
    }
  }
}

TEST(KeyRecordsTest, ALineThatIsNoneOfOursIsAnError) {
  for (const char* line :
       {"x\n", "{}\n", "{\"what\":\"put\"}\n", "{\"what\":\"put\",\"key\":\"a b\"}\n",
        "{\"what\":\"made\"}\n", "{\"what\":\"barrier\",\"key\":\"a\"}\n",
        "{\"what\":\"whole\",\"key\":\"a\"}\n", "{\"what\":\"whole\",\"more\":1}\n"}) {
    KeptKeys kept;
    const auto read = replay(lines_of(some()) + line, kept);
    ASSERT_FALSE(read.ok()) << line;
    EXPECT_EQ(read.error().code, base::Code::kDataLoss);
    EXPECT_THAT(read.error().message, HasSubstr("line 6: ")) << line;
  }
}

}  // namespace
}  // namespace gangrun::agents
