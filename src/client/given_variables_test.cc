#include "client/given_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "client/test_context.h"

namespace gangrun::client {
namespace {

using testing::ElementsAre;

class GivenVariablesTest : public testing::Test {
 protected:
  void write(std::string_view text) {
    ASSERT_TRUE(base::write_file_atomically(test_.folder() + "/env", text, 0600).ok());
  }
  std::string error_of(RunOptions options) {
    const auto settled = settle_variables(options, environment_, test_.folder());
    return settled.ok() ? "" : settled.error().message;
  }

  TestContext test_;
  const std::map<std::string, std::string> environment_{{"TOKEN", "a=b"}, {"EMPTY", ""}};
};

TEST_F(GivenVariablesTest, ANameHasTheValueOfTheCaller) {
  RunOptions options;
  options.flags.env = {"A=1", "TOKEN", "worker:TOKEN", "EMPTY", "ps:B="};
  ASSERT_TRUE(settle_variables(options, environment_, test_.folder()).ok());
  EXPECT_THAT(options.flags.env,
              ElementsAre("A=1", "TOKEN=a=b", "worker:TOKEN=a=b", "EMPTY=", "ps:B="));
}

// As docker and podman read it; files of other systems have a mark and carriage returns.
TEST_F(GivenVariablesTest, AFileIsReadAsItStandsAndFlagsWin) {
  write("\xEF\xBB\xBF# comment\r\nA=\"x\"  \r\n\nTOKEN\nB==#1\nC=last");
  RunOptions options;
  options.env_files = {"env"};
  options.flags.env = {"A=2"};
  ASSERT_TRUE(settle_variables(options, environment_, test_.folder()).ok());
  EXPECT_THAT(options.flags.env, ElementsAre("A=\"x\"  ", "TOKEN=a=b", "B==#1", "C=last", "A=2"));
}

TEST_F(GivenVariablesTest, WhatIsWrongIsNamed) {
  RunOptions options;
  options.flags.env = {"ps:NONE"};
  EXPECT_EQ(error_of(options),
            "-e: 'ps:NONE': NONE is not set here; write ps:NONE=VALUE, or export NONE first");
  options.flags.env = {"A-B"};
  EXPECT_THAT(error_of(options), testing::StartsWith("-e: 'A-B': "));
  options.flags.env.clear();
  options.env_files = {"none"};
  EXPECT_THAT(error_of(options), testing::HasSubstr("--env-file none: "));
  options.env_files = {"env"};
  write("A=1\nexport B=2\n");
  EXPECT_THAT(error_of(options), testing::StartsWith("--env-file env: line 2: 'export B': "));
  write("A=1\n\nNONE\n");
  EXPECT_THAT(error_of(options),
              testing::StartsWith("--env-file env: line 3: 'NONE': NONE is not"));
}

}  // namespace
}  // namespace gangrun::client
