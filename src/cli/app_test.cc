#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/files.h"
#include "cli/commands.h"
#include "client/test_context.h"
#include "places/places.h"

namespace gangrun::cli {
namespace {

using testing::HasSubstr;

TEST(CommandLine, HelpIsNoError) {
  client::TestContext test;
  EXPECT_EQ(run_command_line({"--help"}, test.context()), client::ExitStatus::kSuccess);
  EXPECT_THAT(test.out(), HasSubstr("Usage: gangrun"));
  EXPECT_EQ(test.err(), "");
}

TEST(CommandLine, WhatCouldNotBeWrittenIsNoSuccess) {
  const base::UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  client::TestContext test;
  client::Console console({.out = full.get(), .err = test.err_fd()});
  client::Context context{.clock = test.context().clock,
                          .commanded_at = test.context().commanded_at,
                          .console = console,
                          .environment = test.context().environment,
                          .program = test.context().program,
                          .folder = test.folder(),
                          .places = test.context().places};
  EXPECT_EQ(run_command_line({"version"}, context), client::ExitStatus::kFailed);
  EXPECT_EQ(test.err(), "gangrun: standard output: cannot be written: No space left on device\n");
  EXPECT_EQ(run_command_line({"kill"}, context), client::ExitStatus::kBadInput) << "worse stays";
}

TEST(CommandLine, WhatItDoesNotKnowIsOneLine) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"rn"},
                                                    {"rn", "--help"},
                                                    {"-h", "rn"},
                                                    {"ps", "--jsn"},
                                                    {"run", "a", "b"},
                                                    {"kill"},
                                                    {"run", "-m"},
                                                    {"ps", "--", "x"}}) {
    client::TestContext test;
    EXPECT_EQ(run_command_line(arguments, test.context()), client::ExitStatus::kBadInput);
    const std::string error = test.err();
    EXPECT_THAT(error, HasSubstr("gangrun: "));
    EXPECT_EQ(error.find('\n'), error.size() - 1) << error;
    EXPECT_EQ(test.out(), "");
  }
}

// As argparse, docker and kubectl have it: a wrapper's default comes before what is typed.
TEST(CommandLine, OfAValueThatIsGivenTwiceTheLastCounts) {
  client::TestContext test;
  EXPECT_EQ(run_command_line({"history", "--state", "failed", "--state", "none"}, test.context()),
            client::ExitStatus::kBadInput);
  EXPECT_THAT(test.err(), HasSubstr("--state: 'none'"));
}

// By its value's name a switch is told from a flag that takes one.
TEST(CommandLine, EveryFlagThatTakesAValueHasAWordForIt) {
  client::TestContext test(places::all());
  for (const client::Command& command : program(test.context().places).commands) {
    for (const client::Flag& flag : command.flags) {
      EXPECT_EQ(flag.value.empty(), std::holds_alternative<bool*>(flag.target))
          << command.name << ' ' << flag.names;
    }
  }
}

// It started the job.
TEST(CommandLine, ADryRunStaysOneBehindAnEmptyValue) {
  client::TestContext test;
  EXPECT_EQ(run_command_line({"run", "-r", "worker:1", "--output=", "--dry-run", "--", "true"},
                             test.context()),
            client::ExitStatus::kBadInput);
  EXPECT_THAT(test.err(), HasSubstr("output"));
}

TEST(CommandLine, AFlagBeforeItsCommandIsToldItsPlace) {
  client::TestContext test;
  EXPECT_EQ(run_command_line({"--json", "ps"}, test.context()), client::ExitStatus::kBadInput);
  EXPECT_EQ(test.err(), "gangrun: flag '--json' comes after its command: gangrun ps --json\n");
}

TEST(CommandLine, VersionAndHelpAreAskedForInOtherWordsToo) {
  for (const char* word : {"--version", "-v", "-V", "version"}) {
    client::TestContext test;
    EXPECT_EQ(run_command_line({word}, test.context()), client::ExitStatus::kSuccess);
    EXPECT_THAT(test.out(), HasSubstr("gangrun " GANGRUN_VERSION));
  }
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"help"}, {"help", "help"}, {"help", "logs"}, {"logs", "--help"}}) {
    client::TestContext test;
    EXPECT_EQ(run_command_line(words, test.context()), client::ExitStatus::kSuccess);
    const bool is_of_all = words.back() == "help";
    EXPECT_THAT(test.out(),
                HasSubstr(is_of_all ? "Usage: gangrun [OPTIONS] COMMAND" : "Usage: gangrun logs"));
  }
}

TEST(CommandLine, FlagsAreCalledAsKeysAre) {
  for (const auto& [flag, meant] :
       std::map<std::string, std::string>{{"--cpus", "--vcores"},
                                          {"--mem=1", "--memory"},
                                          {"--backend", "--on"},
                                          {"--nnodes", "-r worker:N"},
                                          {"--workers=3", "-r worker:N"},
                                          {"-w", "-r worker:N"},
                                          {"-H", "--hosts"},
                                          {"--nproc_per_node", "--processes"},
                                          {"--local", "--on local"},
                                          {"--yarn", "--on yarn"},
                                          {"--jsno", "--json"}}) {
    client::TestContext test(places::all());
    EXPECT_EQ(run_command_line({"run", flag, "2", "true"}, test.context()),
              client::ExitStatus::kBadInput);
    EXPECT_EQ(test.err(), base::format("gangrun: unknown flag '{}'; did you mean {}?\n",
                                       flag.substr(0, flag.find('=')), meant));
  }
}

TEST(CommandLine, NamesOfOtherProgramsAreToldOurs) {
  for (const auto& [word, meant] : std::map<std::string, std::string>{{"list", "ps"},
                                                                      {"jobs", "ps"},
                                                                      {"stop", "kill"},
                                                                      {"cancel", "kill"},
                                                                      {"terminate", "kill"},
                                                                      {"shutdown", "kill"},
                                                                      {"submit", "run"}}) {
    client::TestContext test;
    EXPECT_EQ(run_command_line({word, "x"}, test.context()), client::ExitStatus::kBadInput);
    EXPECT_EQ(test.err(),
              base::format("gangrun: unknown command '{}'; did you mean {}?\n", word, meant));
  }
}

TEST(CommandLine, WhatMayBeMeantIsToldWhereThereIsNoCommand) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"--verison"}, "unknown flag '--verison'; did you mean --version?"},
      {{"hlep"}, "unknown command 'hlep'; did you mean help?"},
      {{"job.yaml"}, "unknown command 'job.yaml'; did you mean gangrun run job.yaml?"},
      {{"a b.json", "--dry-run"},
       "unknown command 'a b.json'; did you mean gangrun run 'a b.json'?"},
      {{"rnu", "--json"}, "unknown command 'rnu'; did you mean run?"},
      // It had no suggestion: two letters are missing.
      {{"stat"}, "unknown command 'stat'; did you mean status?"},
      {{"logs", "--time"}, "unknown flag '--time'; did you mean --timestamps?"},
      // It may be stacks, too.
      {{"sta"}, "unknown command 'sta'; see gangrun --help"},
      {{"run", "--nmae", "x"}, "unknown flag '--nmae'; did you mean --name?"},
      // It was --image: the dashes counted as letters that are right.
      {{"tf-spawner", "--nmae", "x"}, "unknown flag '--nmae'; see gangrun tf-spawner --help"},
      {{"kv", "set", "a", "b"},
       "'set' is not an action; did you mean 'put'? allowed: put, get, wait, delete, list"}};
  for (const auto& [arguments, told] : cases) {
    client::TestContext test(places::all());
    EXPECT_EQ(run_command_line(arguments, test.context()), client::ExitStatus::kBadInput);
    EXPECT_EQ(test.err(), "gangrun: " + told + "\n");
  }
}

// The error named --tail, and -m.
TEST(CommandLine, AnErrorNamesAFlagAsItWasTyped) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"logs", "-n", "-1"}, "gangrun: -n: '-1' is not allowed"},
      {{"logs", "--tail", "-1"}, "gangrun: --tail: '-1' is not allowed"},
      {{"run", "-m", "4gg", "--", "true"}, "gangrun: -m: '4gg'"},
      {{"run", "--memory=4gg", "--", "true"}, "gangrun: --memory: '4gg'"},
      {{"run", "--roles", "2", "--", "true"}, "gangrun: --roles: '2'"}};
  for (const auto& [arguments, told] : cases) {
    client::TestContext test(places::all());
    EXPECT_EQ(run_command_line(arguments, test.context()), client::ExitStatus::kBadInput);
    EXPECT_THAT(test.err(), testing::StartsWith(told));
  }
}

TEST(CommandLine, TheLastJobIsMeantWhereNoneIsNamed) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"status"},
                                                {"why"},
                                                {"logs"},
                                                {"logs", "worker:0"},
                                                {"attach"},
                                                {"fetch"},
                                                {"fetch", "worker:0", "--to", "x"},
                                                {"result"},
                                                {"result", "worker:0"},
                                                {"open"},
                                                {"wait"}}) {
    client::TestContext test;
    EXPECT_EQ(run_command_line(words, test.context()), client::ExitStatus::kNoSuchJob)
        << words.front();
  }
}

// One of YARN, which without a configuration of Hadoop cannot be asked.
TEST(CommandLine, EveryCommandOfAJobFindsTheLastOneWhereItIs) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"status"},
                                                {"status", "last"},
                                                {"why", "last"},
                                                {"logs", "last"},
                                                {"result", "last"},
                                                {"fetch", "last"},
                                                {"kill", "last"},
                                                {"rm", "--yes", "last"},
                                                {"wait", "last"},
                                                {"attach", "last"},
                                                {"open", "last"}}) {
    client::TestContext test(places::all());
    client::note_as_last(test.context(), "application_1700000000000_0001");
    EXPECT_NE(run_command_line(words, test.context()), client::ExitStatus::kSuccess);
    EXPECT_THAT(test.err(), HasSubstr("HADOOP_CONF_DIR is not set")) << words.front();
  }
}

TEST(CommandLine, TasksAndCommandsOutOfPlaceAreToldTheirs) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"run", "worker:3"},
       "there is no job file 'worker:3'; to start these tasks, use -r worker:3"},
      {{"run", "ps:1", "worker:2", "--", "true"},
       "unexpected argument 'worker:2'; to start these tasks, use -r ps:1,worker:2"},
      {{"run", "python", "train.py"},
       "unexpected argument 'train.py'; put -- before the tasks' command: gangrun run -- python "
       "train.py"},
      {{"run", "python", "train.py", "--steps=5"},
       "unknown flag '--steps'; put -- before the tasks' command: gangrun run -- python train.py "
       "--steps=5"},
      {{"run", "a", "b", "--", "true"}, "unexpected argument 'b'; see gangrun run --help"},
      {{"run", "dir/train.py"},
       "'dir/train.py' is a script, not a job file; put -- before the tasks' command"},
      {{"run", "python"},
       "there is no job file 'python'; to run it as the tasks' command, put -- before it"}};
  for (const auto& [arguments, told] : cases) {
    client::TestContext test;
    EXPECT_EQ(run_command_line(arguments, test.context()), client::ExitStatus::kBadInput);
    EXPECT_EQ(test.err(), "gangrun: " + told + "\n");
  }
}

// It was about a worker that nobody had named.
TEST(CommandLine, ARunOfNothingIsToldWhatToGive) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run"}, {"run", "--dry-run"}}) {
    client::TestContext test;
    EXPECT_EQ(run_command_line(words, test.context()), client::ExitStatus::kBadInput);
    EXPECT_EQ(test.err(),
              "gangrun: nothing to run is given; give a job file, or the tasks' command after --, "
              "for example gangrun run -r worker:4 -- python3 train.py\n");
  }
}

TEST(CommandLine, OnlyWhatRunsInTheCurrentFolderNeedsOne) {
  client::TestContext test;
  client::Context without = test.context();
  without.folder.clear();
  EXPECT_EQ(run_command_line({"version"}, without), client::ExitStatus::kSuccess) << test.err();
  EXPECT_EQ(run_command_line({"ps"}, without), client::ExitStatus::kSuccess) << test.err();
  EXPECT_EQ(test.err(), "");
  EXPECT_NE(run_command_line({"run", "-r", "worker:1", "--", "true"}, without),
            client::ExitStatus::kSuccess);
  EXPECT_THAT(test.err(), HasSubstr("the current folder, in which the tasks would run, is gone"));
}

TEST(CommandLine, TheWordsAfterTwoDashesAreTheUsers) {
  client::TestContext test(places::all());
  const std::vector<std::string> arguments = {"run", "--dry-run", "-r",     "worker:1",
                                              "--",  "true",      "--help", "--"};
  EXPECT_EQ(run_command_line(arguments, test.context()), client::ExitStatus::kSuccess)
      << test.err();
  EXPECT_THAT(test.out(), HasSubstr("true --help --"));
}

// `gangrun logs JOB -- worker:0` was refused.
TEST(CommandLine, TwoDashesEndTheFlagsWhereNoCommandFollows) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"completion", "--", "tcsh"}, "'tcsh' is not a shell"},
      {{"barrier", "b", "--", "z"}, "unexpected argument 'z'; see gangrun barrier --help"},
      {{"ps", "--", "--json"}, "unexpected argument '--json'; see gangrun ps --help"},
      {{"logs", "x", "--", "worker"}, "'worker'"},
      {{"barrier", "--"}, "NAME is missing; see gangrun barrier --help"},
      {{"barrier", "--timeout", "soon", "--", "-b"}, "'soon'"}};
  for (const auto& [arguments, told] : cases) {
    client::TestContext test;
    EXPECT_EQ(run_command_line(arguments, test.context()), client::ExitStatus::kBadInput)
        << test.err();
    EXPECT_THAT(test.err(), HasSubstr(told));
  }
  client::TestContext test;
  EXPECT_EQ(run_command_line({"ps", "--"}, test.context()), client::ExitStatus::kSuccess);
}

TEST(CommandLine, ThePythonPackageAsksForThePlaceOfJobsThatNameNone) {
  client::TestContext test(places::all());
  client::Context& context = test.context();
  context.environment["XDG_CONFIG_HOME"] = test.folder();
  EXPECT_EQ(run_command_line({"default-place"}, context), client::ExitStatus::kSuccess);
  EXPECT_EQ(test.out(), "local\n");
  const auto write = [&](std::string_view text) {
    EXPECT_TRUE(base::write_file_atomically(test.folder() + "/gangrun.yaml", text, 0644).ok());
  };
  write("on: k8s\n");
  EXPECT_EQ(run_command_line({"default-place"}, context), client::ExitStatus::kSuccess);
  EXPECT_EQ(test.out(), "local\nkubernetes\n");
  write("on: yran\n");
  EXPECT_EQ(run_command_line({"default-place"}, context), client::ExitStatus::kBadInput);
  EXPECT_THAT(test.err(), HasSubstr("/gangrun.yaml:1:5: on: 'yran' "));
}

TEST(Fail, TellsTheErrorAndGivesItsStatus) {
  client::TestContext test;
  EXPECT_EQ(fail(test.context(), base::not_found("there is no job 'x'")),
            client::ExitStatus::kNoSuchJob);
  EXPECT_EQ(test.err(), "gangrun: there is no job 'x'\n");
}

TEST(HomeOf, ComesFromTheEnvironment) {
  client::TestContext test;
  EXPECT_EQ(*client::home_of(test.context()), test.folder() + "/home");
  test.context().environment.clear();
  EXPECT_FALSE(client::home_of(test.context()).ok());
}

}  // namespace
}  // namespace gangrun::cli
