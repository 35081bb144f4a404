#include "cluster/ssh/ssh_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace gangrun::cluster {
namespace {

using testing::HasSubstr;

TEST(SshCommand, NeverAsksAndTakesNoHostForAFlag) {
  const auto argv = ssh_command("gpu1", "");
  EXPECT_EQ(argv.front(), "ssh");
  EXPECT_THAT(argv, testing::IsSupersetOf({"BatchMode=yes", "ClearAllForwardings=yes"}));
  EXPECT_THAT(argv, testing::Not(testing::Contains("-F")));
  ASSERT_GE(argv.size(), 3U);
  EXPECT_EQ(argv[argv.size() - 3], "--");
  EXPECT_EQ(argv[argv.size() - 2], "gpu1");
  EXPECT_EQ(argv.back(), "exec /bin/sh");
}

TEST(SshCommand, TakesTheUsersOtherConfiguration) {
  const auto argv = ssh_command("gpu1", "/home/me/ssh_config");
  const auto flag = std::find(argv.begin(), argv.end(), "-F");
  ASSERT_NE(flag, argv.end());
  EXPECT_EQ(*(flag + 1), "/home/me/ssh_config");
}

TEST(LoginScript, QuotesWhatTheUserNamed) {
  LoginInput input;
  input.marker = "gangrun-1";
  input.host = "gpu1";
  input.folder = "/data/it's here";
  input.agent_hash = "abc";
  input.agent_bytes = 2048;
  input.working_folder = "/home/me/$(touch x)";
  const std::string script = login_script(input);
  EXPECT_THAT(script, HasSubstr("given='/data/it'\\''s here'"));
  EXPECT_THAT(script, HasSubstr("'/home/me/$(touch x)'"));
  EXPECT_THAT(script, HasSubstr("size=2048"));
  // The shell has read all of it before anything else of ours comes.
  EXPECT_TRUE(script.ends_with("main\nexit\n"));
}

template <typename T>
bool is(const std::optional<ScriptLine>& line) {
  return line && std::holds_alternative<T>(*line);
}

TEST(ScriptReader, FindsItsLinesAmongThoseOfALogin) {
  ScriptReader reader("gangrun-1");
  reader.add("Welcome to gpu1!\nlast login: never, no end of line: gangrun-1 se");
  EXPECT_EQ(reader.next(), std::nullopt);
  reader.add("nd\ngangrun-1 agent\nrest");
  EXPECT_TRUE(is<NeedsAgent>(reader.next()));
  EXPECT_TRUE(is<HasAgent>(reader.next()));
  EXPECT_EQ(reader.take_rest(), "rest");
  EXPECT_EQ(reader.noise(), "Welcome to gpu1!\n");
}

TEST(ScriptReader, TellsWhyAHostIsNone) {
  ScriptReader reader("m");
  reader.add(
      "m machine Linux aarch64\nm folders /a cannot be made; /b is mounted noexec\nm lost /a\n");
  auto line = reader.next();
  ASSERT_TRUE(is<OtherMachine>(line));
  EXPECT_EQ(std::get<OtherMachine>(*line).what, "Linux aarch64");
  line = reader.next();
  ASSERT_TRUE(is<NoFolder>(line));
  EXPECT_EQ(std::get<NoFolder>(*line).why, "/a cannot be made; /b is mounted noexec");
  EXPECT_TRUE(is<AgentNotKept>(reader.next()));
}

TEST(ScriptReader, KeepsLittleOfAnEndlessLine) {
  ScriptReader reader("m");
  reader.add(std::string(1 << 20, 'x'));
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_LT(reader.take_rest().size(), 1U << 10U);
}

TEST(FolderMark, IsThatOfTheFolderAndOfNoOther) {
  const auto here = std::filesystem::temp_directory_path().string();
  EXPECT_EQ(folder_mark(here), folder_mark(here + "/."));
  EXPECT_NE(folder_mark(here), folder_mark("/"));
  EXPECT_EQ(folder_mark("/no/such/folder"), "");
}

}  // namespace
}  // namespace gangrun::cluster
