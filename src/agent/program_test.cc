#include "agent/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace gangrun::agent {
namespace {

constexpr int kWrongStatus = 2;

std::optional<int> count_words(int count, char**) { return 10 + count; }
std::optional<int> take_none(int, char**) { return std::nullopt; }
std::optional<int> end_with_two(int, char**) { return kWrongStatus; }

constexpr Command kCommands[] = {{"few", 1, 2, &count_words},
                                 {"any", 0, kAnyWords, &count_words},
                                 {"none", 0, kAnyWords, &take_none},
                                 {"two", 0, 0, &end_with_two}};

class ProgramTest : public testing::Test {
 protected:
  int run(std::vector<std::string> words) {
    words.insert(words.begin(), "program");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    const int status = run_program({"program", "usage: program\n", kCommands},
                                   static_cast<int>(argv.size()), argv.data());
    said_ = testing::internal::GetCapturedStdout();
    complained_ = testing::internal::GetCapturedStderr();
    return status;
  }

  std::string said_;
  std::string complained_;
};

TEST_F(ProgramTest, ACommandGetsTheWordsAfterItsName) {
  EXPECT_EQ(run({"few", "a"}), 11);
  EXPECT_EQ(run({"few", "a", "b"}), 12);
  EXPECT_EQ(run({"any"}), 10);
  EXPECT_EQ(complained_, "");
}

TEST_F(ProgramTest, OtherWordsGetTheUsage) {
  for (const auto& words : std::vector<std::vector<std::string>>{{},
                                                                 {"few"},
                                                                 {"few", "a", "b", "c"},
                                                                 {"unknown"},
                                                                 {"none"},
                                                                 {"look"},
                                                                 {"--version", "a"}}) {
    EXPECT_EQ(run(words), kWrongStatus);
    EXPECT_EQ(complained_, "usage: program\n");
  }
}

TEST_F(ProgramTest, AStatusOfTwoIsNoWrongWord) {
  EXPECT_EQ(run({"two"}), kWrongStatus);
  EXPECT_EQ(complained_, "");
}

TEST_F(ProgramTest, TellsItsVersion) {
  EXPECT_EQ(run({"--version"}), 0);
  EXPECT_EQ(said_, "program " GANGRUN_VERSION "\n");
}

}  // namespace
}  // namespace gangrun::agent
