#include "agents/log_lacks.h"

#include <gtest/gtest.h>

namespace gangrun::agents {
namespace {

TEST(LogLacksTest, ItIsToldWhyAndThenHowMany) {
  LogLacks lacks;
  EXPECT_EQ(lacks.words(), "");
  EXPECT_EQ(lacks.add(1, "full", 0), "full");
  EXPECT_EQ(lacks.words(), "full");
  EXPECT_EQ(lacks.add(1, "full", 1), "1 line could not be kept: full");
  EXPECT_EQ(lacks.words(), "1 line could not be kept: full");
}

// `status` had those of the last run.
TEST(LogLacksTest, TheLinesOfAllAgentsAreCountedTogether) {
  LogLacks lacks;
  (void)lacks.add(1, "full", 3);
  EXPECT_EQ(lacks.add(4, "no disk", 0), "no disk");
  EXPECT_EQ(lacks.words(), "3 lines could not be kept: no disk");
  EXPECT_EQ(lacks.add(4, "no disk", 4), "7 lines could not be kept: no disk");
}

TEST(LogLacksTest, AnAgentThatTellsItAgainHasNothingNew) {
  LogLacks lacks;
  (void)lacks.add(1, "full", 3);
  EXPECT_EQ(lacks.add(1, "full", 3), std::nullopt);
  EXPECT_EQ(lacks.add(1, "full", 0), std::nullopt);
  EXPECT_EQ(lacks.words(), "3 lines could not be kept: full");
}

// An agent of an earlier version has the number in its words.
TEST(LogLacksTest, WordsWithoutANumberAreToldAsTheyAre) {
  LogLacks lacks;
  EXPECT_EQ(lacks.add(1, "2 lines could not be kept: full", 0), "2 lines could not be kept: full");
  EXPECT_EQ(lacks.words(), "2 lines could not be kept: full");
}

}  // namespace
}  // namespace gangrun::agents
