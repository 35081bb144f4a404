#include "cli/command_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>

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
  CommandBuilderTest() {
    add_arguments(app_, {.name = "test",
                         .summary = "Test.",
                         .words = {{"JOB", &given_.job}, {"VALUE", &given_.value}},
                         .flags = {{"--json", &given_.json, "", "Print JSON"},
                                   {"-n,--name", &given_.name, "NAME", "The name"},
                                   {"-m,--memory", &given_.memory, "SIZE", "Memory"}}});
  }
  // Arguments in the order in which they were written.
  void parse(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());
    app_.parse(arguments);
  }

  Given given_;
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

// `gangrun kv put KEY ""` waited for standard input.
TEST_F(CommandBuilderTest, AWordThatIsEmptyIsGiven) {
  parse({"wine", ""});
  EXPECT_EQ(given_.value, "");
}

TEST_F(CommandBuilderTest, AnOptionalWordThatIsNotGivenIsNone) {
  parse({"wine"});
  EXPECT_EQ(given_.value, std::nullopt);
}

TEST_F(CommandBuilderTest, AnOptionalWordIsOne) {
  parse({"", "[a,b]"});
  EXPECT_EQ(given_.job, "");
  EXPECT_EQ(given_.value, "[a,b]");
}

}  // namespace
}  // namespace gangrun::cli
