#include "client/live_view.h"

#include <gtest/gtest.h>

namespace gangrun::client {
namespace {

TEST(ReplaceFrame, TheFirstOneOnlyWrites) {
  EXPECT_EQ(replace_frame({}, {}, {Line("a"), Line("b")}, 80, false), "a\x1b[K\nb\x1b[K\n\x1b[J");
}

TEST(ReplaceFrame, GoesBackOverTheLastOne) {
  const Lines shown = {Line("one"), Line("two")};
  EXPECT_EQ(replace_frame(shown, {Line("said")}, {Line("x")}, 80, false),
            "\x1b[2A\rsaid\x1b[K\nx\x1b[K\n\x1b[J");
}

TEST(ReplaceFrame, CountsTheRowsOfANarrowerTerminal) {
  const Lines shown = {Line("0123456789"), Line("01234"), Line("")};
  EXPECT_TRUE(replace_frame(shown, {}, {}, 5, false).starts_with("\x1b[4A\r"));
  EXPECT_TRUE(replace_frame(shown, {}, {}, 4, false).starts_with("\x1b[6A\r"));
  EXPECT_TRUE(replace_frame(shown, {}, {}, 0, false).starts_with("\x1b[3A\r"));
}

}  // namespace
}  // namespace gangrun::client
