#include "client/text.h"

#include <gtest/gtest.h>

namespace gangrun::client {
namespace {

TEST(Fit, FillsTheWidth) {
  for (const char* text : {"abcdef", "東京東京", "", "a東b京"}) {
    for (std::size_t width = 0; width < 10; ++width) {
      EXPECT_EQ(display_width(fit(text, width)), width) << text << " at " << width;
    }
  }
  EXPECT_EQ(fit("ab", 4), "ab  ");
}

TEST(BytesText, WhatIsNotKnownIsADash) {
  EXPECT_EQ(bytes_text(0), "-");
  EXPECT_EQ(bytes_text(1), "1 B");
  EXPECT_EQ(bytes_text(std::int64_t{812} << 20), "812 MiB");
  EXPECT_EQ(bytes_text(std::int64_t{3} << 29), "1.5 GiB");
}

TEST(CountText, KnowsTheSingular) {
  EXPECT_EQ(count_text(1, "task"), "1 task");
  EXPECT_EQ(count_text(0, "task"), "0 tasks");
}

TEST(ListText, HasAnAndBeforeTheLast) {
  EXPECT_EQ(list_text({}), "");
  EXPECT_EQ(list_text({"a"}), "a");
  EXPECT_EQ(list_text({"a", "b", "c"}), "a, b and c");
}

}  // namespace
}  // namespace gangrun::client
