#include "hadoop/launch_script.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "base/unique_fd.h"

namespace gangrun::hadoop {
namespace {

// The value that bash makes of `export X="<quoted>"`, as the launch script has it.
std::string value_in_bash(const std::string& quoted) {
  const std::string script = "export X=\"" + quoted + "\"\nprintf %s \"$X\"\n";
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return "(no pipe)";
  base::UniqueFd reader(ends[0]);
  base::UniqueFd writer(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, writer.get(), STDOUT_FILENO);
  std::string name = "bash";
  std::string flag = "-c";
  std::string text = script;
  std::array<char*, 4> argv{name.data(), flag.data(), text.data(), nullptr};
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, "bash", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return "(bash did not start)";
  writer.reset();
  std::string output;
  std::array<char, 256> block{};
  for (ssize_t count = 0; (count = ::read(reader.get(), block.data(), block.size())) > 0;) {
    output.append(block.data(), static_cast<std::size_t>(count));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return output;
}

TEST(LaunchScript, BashHasTheValueUnchanged) {
  for (const std::string value :
       {"plain", "", "two words", "a \"quoted\" word", "$HOME ${HOME} $(id) `id`", "back\\slash\\",
        "two\nlines\n\nend", "tab\tand 'single' quotes", "ümläut 日本語",
        "{\"cluster\": {\"a\": [1]}}", "{{NM_HOST}} and {{{deep}}}", "<CPS> <LOG_DIR>",
        "!history #comment ; & | * ?", "\\\"", "\\$"}) {
    EXPECT_EQ(value_in_bash(quote_for_launch_script(value)), value);
  }
}

TEST(LaunchScript, YarnFindsNothingToReplace) {
  for (const std::string value : {"{{NM_HOST}}", "{{{X}}}", "<CPS>", "<LOG_DIR>", "<<CPS>"}) {
    const std::string quoted = quote_for_launch_script(value);
    EXPECT_EQ(quoted.find("{{"), std::string::npos) << quoted;
    EXPECT_EQ(quoted.find("<CPS>"), std::string::npos) << quoted;
    EXPECT_EQ(quoted.find("<LOG_DIR>"), std::string::npos) << quoted;
  }
}

}  // namespace
}  // namespace gangrun::hadoop
