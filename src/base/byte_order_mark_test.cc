#include "base/byte_order_mark.h"

#include <gtest/gtest.h>

namespace gangrun::base {
namespace {

TEST(WithoutMark, OnlyAMarkAtTheBeginningGoes) {
  EXPECT_EQ(*without_mark("\xEF\xBB\xBF"
                          "a\xEF\xBB\xBF"),
            "a\xEF\xBB\xBF");
  EXPECT_EQ(*without_mark("a"), "a");
  EXPECT_EQ(*without_mark(""), "");
  for (const char* text : {"\xFF\xFE"
                           "a",
                           "\xFE\xFF"
                           "a"})
    EXPECT_FALSE(without_mark(text).ok());
}

}  // namespace
}  // namespace gangrun::base
