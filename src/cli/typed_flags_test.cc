#include "cli/typed_flags.h"

#include <gtest/gtest.h>

namespace gangrun::cli {
namespace {

using Names = std::map<std::string, std::string>;

TEST(TypedFlags, AreThoseOfWhichOneNameWasTyped) {
  client::Command logs{.name = "logs", .summary = ""};
  logs.flags = {
      {"-n,--tail", {}, "LINES", ""}, {"-f,--follow", {}, "", ""}, {"--since", {}, "T", ""}};
  EXPECT_EQ(typed_flags(logs, {}), Names());
  EXPECT_EQ(typed_flags(logs, {"last", "-n", "-1"}), (Names{{"--tail", "-n"}}));
  EXPECT_EQ(typed_flags(logs, {"-n5"}), (Names{{"--tail", "-n"}}));
  EXPECT_EQ(typed_flags(logs, {"--tail=5", "-f"}), (Names{{"-n", "--tail"}, {"--follow", "-f"}}));
  EXPECT_EQ(typed_flags(logs, {"-n", "5", "--tail", "6"}), Names()) << "either may be meant";
  EXPECT_EQ(typed_flags(logs, {"--since", "1h"}), Names()) << "it has one name";
}

}  // namespace
}  // namespace gangrun::cli
