#include "cli/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "cli/completion.h"

namespace gangrun::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

client::Command sample_program() {
  client::Command run{.name = "run",
                      .summary = "Start it.",
                      .words = {{"JOB.yaml", {}}},
                      .flags = {{"-r,--roles", {}, "TYPE:N", "How many"},
                                {"--shell", {}, "a|b", "It's a [choice]"}},
                      .footer = "Example:\n  gangrun run\n"};
  client::Command logs{.name = "logs", .summary = "Show.", .words = {{"JOB", {}, true}}};
  return {.name = "gangrun",
          .summary = "All of it.",
          .flags = {{"-h,--help", {}, "", "Help"}},
          .commands = {run, logs}};
}

TEST(HelpText, ShowsCommandsAndFlags) {
  EXPECT_EQ(help_text(sample_program(), ""), R"(All of it.

Usage: gangrun [OPTIONS] COMMAND

Commands:
  run   Start it.
  logs  Show.

Options:
  -h, --help  Help
)");
  EXPECT_EQ(help_text(sample_program().commands[0], "gangrun"), R"(Start it.

Usage: gangrun run [OPTIONS] [JOB.yaml]

Options:
  -r, --roles TYPE:N  How many
      --shell a|b     It's a [choice]

Example:
  gangrun run
)");
}

TEST(HelpText, WrapsLongHelp) {
  client::Command command = sample_program().commands[0];
  for (int i = 0; i < 40; ++i) command.flags[0].help += " word";
  std::size_t start = 0;
  const std::string text = help_text(command, "gangrun");
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    EXPECT_LE(end - start, 100U);
    start = end + 1;
  }
}

TEST(HelpText, HasWordsAndRestAsTheyAreGiven) {
  std::vector<std::string> many;
  std::optional<std::string> one;
  const client::Command command{.name = "test",
                                .summary = "Test.",
                                .words = {{"JOB", {}}, {"VALUE", &one}, {"TASK", &many}},
                                .rest = &many,
                                .flags = {{"--name,-n", {}, "NAME", "The name"}}};
  EXPECT_EQ(help_text(command, ""), R"(Test.

Usage: test [OPTIONS] [JOB] [VALUE] [TASK...] [-- COMMAND...]

Options:
  -n, --name NAME  The name
)");
}

// `gangrun kv` had "[-- COMMAND...]".
TEST(HelpText, TheRestMayHaveAnotherName) {
  std::vector<std::string> rest;
  const client::Command command{
      .name = "test", .summary = "Test.", .rest = &rest, .rest_name = "[KEY] [VALUE]"};
  EXPECT_EQ(help_text(command, ""), "Test.\n\nUsage: test [-- [KEY] [VALUE]]\n");
}

TEST(ChoicesOf, AreSeparatedByBars) {
  EXPECT_THAT(choices_of("a|b"), ElementsAre("a", "b"));
  EXPECT_THAT(choices_of("FILE"), IsEmpty());
}

TEST(CompletionScript, NamesEveryCommandFlagAndChoice) {
  for (const std::string& shell : completion_shells()) {
    const auto script = completion_script(shell, sample_program());
    ASSERT_TRUE(script.ok());
    EXPECT_THAT(*script, HasSubstr("run"));
    EXPECT_THAT(*script, HasSubstr("logs"));
    EXPECT_THAT(*script, HasSubstr("roles"));
    EXPECT_THAT(*script, HasSubstr("a b"));
    EXPECT_THAT(*script, HasSubstr("GANGRUN_HOME"));
  }
}

// `gangrun logs wo` had no completion, though `gangrun logs worker:0` is a command.
TEST(CompletionScript, TasksOfTheLastJobStandBesideJobs) {
  client::Command program = sample_program();
  program.commands[1].words = {{"JOB", {}}, {"TASK", {}}};
  program.commands[1].flags = {{"-n,--tail", {}, "LINES", ""}};
  EXPECT_THAT(*completion_script("bash", program),
              HasSubstr("_gangrun_job_and_task \"-n --tail\" \"_gangrun_jobs\"\n"));
  const std::string zsh = *completion_script("zsh", program);
  EXPECT_THAT(zsh, HasSubstr("'1:JOB:{_gangrun_offer last \"$(_gangrun_jobs)\" "
                             "\"$(_gangrun_tasks last)\"}'"));
  EXPECT_THAT(zsh, HasSubstr("'2:TASK:{_gangrun_offer \"$(_gangrun_tasks \"$line[1]\")\"}'"));
  const std::string fish = *completion_script("fish", program);
  EXPECT_THAT(fish, HasSubstr("-n '__fish_seen_subcommand_from logs; and not __gangrun_job -n "
                              "--tail >/dev/null' -f -x -a '(__gangrun_jobs)'\n"));
  EXPECT_THAT(fish, HasSubstr("-n '__fish_seen_subcommand_from logs' -f -x -a '(__gangrun_tasks "
                              "-n --tail)'\n"));
}

TEST(CompletionScript, CommandsAndReasonsAreOffered) {
  client::Command program = sample_program();
  program.commands.push_back({.name = "explain", .summary = "", .words = {{"REASON", {}}}});
  for (const std::string& shell : completion_shells()) {
    const std::string script = *completion_script(shell, program);
    EXPECT_THAT(script, HasSubstr(" out_of_memory ")) << shell;
    EXPECT_THAT(script, HasSubstr("run logs explain")) << shell;
  }
}

// The actions of `gangrun kv` are offered in the place of the first word only.
TEST(CompletionScript, AChoiceBeforeOtherWordsIsOfferedInItsPlace) {
  client::Command program = sample_program();
  program.commands.push_back(
      {.name = "kv", .summary = "", .words = {{"put|get", {}}, {"KEY", {}}}});
  EXPECT_THAT(*completion_script("bash", program),
              HasSubstr("      if [[ $previous == kv ]]; then\n"
                        "        COMPREPLY=($(compgen -W \"put get\" -- \"$current\"))\n"));
  const std::string zsh = *completion_script("zsh", program);
  EXPECT_THAT(zsh, HasSubstr("'1:choice:(put get)'"));
  EXPECT_THAT(zsh, HasSubstr("'2:KEY: '"));
  EXPECT_THAT(*completion_script("fish", program),
              HasSubstr("-n '__fish_seen_subcommand_from kv' -f\n"
                        "complete -c gangrun -n '__fish_seen_subcommand_from kv; and not "
                        "__fish_seen_subcommand_from put get' -x -a 'put get'\n"));
}

// "TYPE" was offered for `--success all|TYPE`.
TEST(CompletionScript, NamesOfValuesAreNotOffered) {
  client::Command program = sample_program();
  program.commands[1].flags = {{"--success", {}, "all|TYPE", ""},
                               {"--expose", {}, "TYPE:loopback|host", ""}};
  EXPECT_THAT(*completion_script("bash", program),
              HasSubstr("        --success) COMPREPLY=($(compgen -W \"all\" -- \"$current\")); "
                        "return ;;\n        --expose) COMPREPLY=(); return ;;\n"));
  EXPECT_THAT(*completion_script("zsh", program), HasSubstr("'*--success=[]:all|TYPE:(all)'"));
  EXPECT_THAT(*completion_script("fish", program), HasSubstr(" -l success -x -a 'all'"));
}

TEST(CompletionScript, BehindTheDashesOfSomeCommandsStandsAnother) {
  std::vector<std::string> rest;
  client::Command program = sample_program();
  program.commands[0].rest = &rest;
  EXPECT_THAT(*completion_script("bash", program),
              HasSubstr("if [[ \" run \" == *\" $command \"* ]]; then\n"));
}

TEST(CompletionScript, AnotherShellIsRefused) {
  const auto script = completion_script("bsh", sample_program());
  ASSERT_FALSE(script.ok());
  EXPECT_THAT(script.error().message, HasSubstr("bash"));
}

}  // namespace
}  // namespace gangrun::cli
