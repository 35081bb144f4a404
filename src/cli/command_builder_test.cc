#include "cli/command_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/format.h"

namespace gangrun::cli {
namespace {

using testing::ElementsAre;

struct Given {
  bool json = false;
  std::optional<std::string> name;
  std::vector<std::string> memory;
  std::string job;
  std::optional<std::string> value;
};

class CommandBuilderTest : public testing::Test {
 protected:
  CommandBuilderTest() { add_arguments(app_, command_); }
  // Arguments in the order in which they were written.
  void parse(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());
    app_.parse(arguments);
  }

  // The words that the library would read, or the error.
  std::string cleared(const std::vector<std::string>& words) {
    const auto clear = clear_words(command_, words);
    return clear.ok() ? base::format("{}", fmt::join(*clear, "|")) : clear.error().message;
  }

  Given given_;
  const client::Command command_{.name = "test",
                                 .summary = "Test.",
                                 .words = {{"JOB", &given_.job}, {"VALUE", &given_.value}},
                                 .flags = {{"--json", &given_.json, "", "Print JSON"},
                                           {"-n,--name", &given_.name, "NAME", "The name"},
                                           {"-m,--memory", &given_.memory, "SIZE", "Memory"}}};
  CLI::App app_{"Test.", "test"};
};

TEST_F(CommandBuilderTest, AListTakesOneValueEachTime) {
  parse({"-m", "4g", "-m", "ps:2g", "--json", "wine"});
  EXPECT_THAT(given_.memory, ElementsAre("4g", "ps:2g"));
  EXPECT_EQ(given_.job, "wine");
  EXPECT_TRUE(given_.json);
  EXPECT_FALSE(given_.name);
}

TEST_F(CommandBuilderTest, AValueMayLookLikeAFlag) {
  parse({"--name=-5", "-m", "-1"});
  EXPECT_EQ(given_.name, "-5");
  EXPECT_THAT(given_.memory, ElementsAre("-1"));
}

// "--name= --json" took "--json" for the name, and so a dry run started a job.
TEST_F(CommandBuilderTest, AnEmptyValueIsOne) {
  EXPECT_EQ(cleared({"--name=", "--json", "wine"}), "--name||--json|wine");
  EXPECT_EQ(cleared({"-m", "4g", "--memory="}), "-m|4g|--memory|");
  parse({"--name", "", "--json", "wine"});
  EXPECT_EQ(given_.name, "");
  EXPECT_TRUE(given_.json);
}

TEST_F(CommandBuilderTest, AFlagIsNoValueUnlessItIsMeant) {
  EXPECT_EQ(cleared({"--name", "--json"}),
            "--name needs a value, and '--json' is a flag; if it is meant: --name=--json");
  EXPECT_EQ(cleared({"-m", "--name=x"}),
            "-m needs a value, and '--name=x' is a flag; if it is meant: --memory=--name=x");
  EXPECT_EQ(cleared({"--name=--json"}), "--name=--json");
  EXPECT_EQ(cleared({"--name", "-5", "--name", "--other"}), "--name|-5|--name|--other");
}

// "--json=0" switched it on, and "--json=no" too.
TEST_F(CommandBuilderTest, ASwitchTakesNoValue) {
  for (const char* word : {"--json=0", "--json=true", "--json="}) {
    EXPECT_EQ(cleared({word}), "--json takes no value");
  }
}

// `gangrun kv put KEY ""` waited for standard input.
TEST_F(CommandBuilderTest, AWordThatIsEmptyIsGiven) {
  parse({"wine", ""});
  EXPECT_EQ(given_.value, "");
}

TEST_F(CommandBuilderTest, AnOptionalWordThatIsNotGivenIsNone) {
  parse({"wine"});
  EXPECT_EQ(given_.value, std::nullopt);
}

TEST_F(CommandBuilderTest, WordsBehindTheDashesComeAfterThoseBefore) {
  parse({"wine"});
  ASSERT_TRUE(take_words(app_, command_, {"--json"}).ok());
  EXPECT_EQ(given_.job, "wine");
  EXPECT_EQ(given_.value, "--json");
  EXPECT_FALSE(given_.json);
  EXPECT_EQ(take_words(app_, command_, {"v", "more"}).error().message,
            "unexpected argument 'more'");
}

TEST_F(CommandBuilderTest, AListHasTheWordsOfBothSides) {
  std::vector<std::string> jobs;
  const client::Command command{
      .name = "test", .summary = "Test.", .words = {{"JOB", &jobs, true}}};
  CLI::App app{"Test.", "test"};
  add_arguments(app, command);
  EXPECT_EQ(take_words(app, command, {}).error().message, "JOB... is missing");
  app.parse(std::vector<std::string>{"a"});
  ASSERT_TRUE(take_words(app, command, {"b", "-c"}).ok());
  EXPECT_THAT(jobs, ElementsAre("a", "b", "-c"));
}

TEST_F(CommandBuilderTest, AnOptionalWordIsOne) {
  parse({"", "[a,b]"});
  EXPECT_EQ(given_.job, "");
  EXPECT_EQ(given_.value, "[a,b]");
}

}  // namespace
}  // namespace gangrun::cli
