#include "cli/app.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/all_places.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/test_context.h"

namespace gangrun::cli {
namespace {

using testing::HasSubstr;

TEST(CommandLine, HelpIsNoError) {
  TestContext test;
  EXPECT_EQ(run_command_line({"--help"}, test.context()), ExitStatus::kSuccess);
  EXPECT_THAT(test.out(), HasSubstr("Usage: gangrun"));
  EXPECT_EQ(test.err(), "");
}

TEST(CommandLine, WhatCouldNotBeWrittenIsNoSuccess) {
  const base::UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  TestContext test;
  Console console({.out = full.get(), .err = test.err_fd()});
  Context context{.clock = test.context().clock,
                  .commanded_at = test.context().commanded_at,
                  .console = console,
                  .environment = test.context().environment,
                  .program = test.context().program,
                  .folder = test.folder(),
                  .places = test.context().places};
  EXPECT_EQ(run_command_line({"version"}, context), ExitStatus::kFailed);
  EXPECT_EQ(test.err(), "gangrun: standard output: cannot be written: No space left on device\n");
  EXPECT_EQ(run_command_line({"status"}, context), ExitStatus::kBadInput) << "worse stays";
}

TEST(CommandLine, WhatItDoesNotKnowIsOneLine) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"rn"},
                                                    {"rn", "--help"},
                                                    {"-h", "rn"},
                                                    {"ps", "--jsn"},
                                                    {"run", "a", "b"},
                                                    {"status"},
                                                    {"run", "-m"},
                                                    {"ps", "--", "x"}}) {
    TestContext test;
    EXPECT_EQ(run_command_line(arguments, test.context()), ExitStatus::kBadInput);
    const std::string error = test.err();
    EXPECT_THAT(error, HasSubstr("gangrun: "));
    EXPECT_EQ(error.find('\n'), error.size() - 1) << error;
    EXPECT_EQ(test.out(), "");
  }
}

TEST(CommandLine, OnlyWhatRunsInTheCurrentFolderNeedsOne) {
  TestContext test;
  Context without = test.context();
  without.folder.clear();
  EXPECT_EQ(run_command_line({"version"}, without), ExitStatus::kSuccess) << test.err();
  EXPECT_EQ(run_command_line({"ps"}, without), ExitStatus::kSuccess) << test.err();
  EXPECT_EQ(test.err(), "");
  EXPECT_NE(run_command_line({"run", "-r", "worker:1", "--", "true"}, without),
            ExitStatus::kSuccess);
  EXPECT_THAT(test.err(), HasSubstr("the current folder, in which the tasks would run, is gone"));
}

TEST(CommandLine, TheWordsAfterTwoDashesAreTheUsers) {
  TestContext test(all_places());
  const std::vector<std::string> arguments = {"run", "--dry-run", "-r",     "worker:1",
                                              "--",  "true",      "--help", "--"};
  EXPECT_EQ(run_command_line(arguments, test.context()), ExitStatus::kSuccess) << test.err();
  EXPECT_THAT(test.out(), HasSubstr("true --help --"));
}

TEST(Fail, TellsTheErrorAndGivesItsStatus) {
  TestContext test;
  EXPECT_EQ(fail(test.context(), base::not_found("there is no job 'x'")), ExitStatus::kNoSuchJob);
  EXPECT_EQ(test.err(), "gangrun: there is no job 'x'\n");
}

TEST(HomeOf, ComesFromTheEnvironment) {
  TestContext test;
  EXPECT_EQ(*home_of(test.context()), test.folder() + "/home");
  test.context().environment.clear();
  EXPECT_FALSE(home_of(test.context()).ok());
}

}  // namespace
}  // namespace gangrun::cli
