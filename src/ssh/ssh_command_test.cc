#include "ssh/ssh_command.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/test_deadline.h"
#include "base/unique_fd.h"
#include "process/spawn.h"

namespace gangrun::ssh {
namespace {

using testing::HasSubstr;

TEST(SshCommand, NeverAsksAndTakesNoHostForAFlag) {
  const auto argv = ssh_command("gpu1", {});
  EXPECT_EQ(argv.front(), "ssh");
  EXPECT_THAT(argv, testing::IsSupersetOf({"BatchMode=yes", "ClearAllForwardings=yes"}));
  EXPECT_THAT(argv, testing::Not(testing::Contains("-F")));
  ASSERT_GE(argv.size(), 3U);
  EXPECT_EQ(argv[argv.size() - 3], "--");
  EXPECT_EQ(argv[argv.size() - 2], "gpu1");
  EXPECT_EQ(argv.back(), "exec /bin/sh");
}

TEST(SshCommand, OverridesWhatAUserHasForHisOwnSessions) {
  const auto shell = ssh_command("gpu1", {});
  EXPECT_THAT(shell, testing::IsSupersetOf({"RemoteCommand=none", "StdinNull=no",
                                            "ForkAfterAuthentication=no", "SessionType=default",
                                            "LogLevel=INFO"}));
  const auto way = ssh_command_to("gpu1", {}, "10.0.0.2:4711");
  EXPECT_THAT(way, testing::IsSupersetOf({"StdinNull=no", "ForkAfterAuthentication=no"}));
  // Options that an older ssh does not know, and has named, are left out; those that the user has
  // it ignore stay.
  SshCall call;
  for (const char* ours :
       {"stdinnull", "sessiontype", "forkafterauthentication", "remotecommand"}) {
    EXPECT_TRUE(leave_out(ours, call)) << ours;
    EXPECT_FALSE(leave_out(ours, call)) << ours;
  }
  // Whoever says so: every ssh knows these, and nobody else's are ours to leave out.
  for (const char* other : {"batchmode", "clearallforwardings", "permitlocalcommand", "x1", ""}) {
    EXPECT_FALSE(leave_out(other, call)) << other;
  }
  const auto older = ssh_command("gpu1", {.config = {}, .unknown = {"stdinnull", "sessiontype"}});
  EXPECT_THAT(older, testing::Not(testing::Contains("StdinNull=no")));
  EXPECT_THAT(older, testing::Not(testing::Contains("SessionType=default")));
  EXPECT_THAT(older, testing::Contains("ForkAfterAuthentication=no"));
  EXPECT_THAT(shell, testing::Not(testing::Contains(testing::HasSubstr("IgnoreUnknown"))));
}

TEST(SshCommand, TakesTheUsersOtherConfiguration) {
  const auto argv = ssh_command("gpu1", {.config = "/home/me/ssh_config"});
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
  EXPECT_TRUE(script.ends_with("main; exit\n"));
}

// The script in a shell of this machine, and what the hosts of this machine have of it.
class LoginScriptTest : public testing::Test {
 protected:
  LoginScriptTest() {
    std::string text = "/tmp/gangrun-login-XXXXXX";
    base_ = std::filesystem::canonical(::mkdtemp(text.data()));
  }
  ~LoginScriptTest() override { std::filesystem::remove_all(base_); }

  // Returns what the script says when it is to use the folder. The agent that it finds says "runs",
  // with where it is; one that it takes is empty.
  std::string says(const std::string& folder) {
    LoginInput input;
    input.marker = "m";
    input.host = "gpu1";
    input.folder = folder;
    input.agent_hash = "abc";
    input.agent_bytes = agent_bytes_;
    std::ofstream(base_ / "script") << before_ << "\n" << login_script(input);
    const base::UniqueFd in(::open((base_ / "script").c_str(), O_RDONLY | O_CLOEXEC));
    const base::UniqueFd out(
        ::open((base_ / "said").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    process::SpawnOptions options;
    options.argv = {"/bin/sh"};
    options.environment = process::inherited_environment();
    options.standard_input = in.get();
    options.standard_output = out.get();
    options.standard_error = out.get();
    auto shell = process::spawn(options);
    EXPECT_TRUE(shell.ok() && shell->wait(base::soon()).ok());
    std::ostringstream said;
    said << std::ifstream(base_ / "said").rdbuf();
    return said.str();
  }
  // One that has an agent.
  std::string make_folder(const std::string& name) {
    const std::filesystem::path folder = base_ / name;
    std::filesystem::create_directories(folder / "agents");
    std::ofstream(folder / "agents/abc") << "#!/bin/sh\necho runs \"$0 $*\"\n";
    EXPECT_EQ(::chmod((folder / "agents/abc").c_str(), 0700), 0);
    return folder;
  }
  static mode_t mode_of(const std::string& path) {
    struct stat info {};
    return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777U : 0;
  }

  std::filesystem::path base_;
  std::uint64_t agent_bytes_ = 0;  // of the one that comes, too
  std::string before_;             // a login's own line
};

TEST_F(LoginScriptTest, MakesAFolderThatIsOursAlone) {
  const std::string folder = base_ / "deep/er/here";
  EXPECT_EQ(says(folder + "//"), "m send\nm agent\n");
  for (const char* part : {"", "/agents", "/jobs"}) EXPECT_EQ(mode_of(folder + part), 0700U);
}

TEST_F(LoginScriptTest, LeavesALoginThatAsksForALineSomethingToRead) {
  LoginInput input;
  input.marker = "m";
  EXPECT_TRUE(login_script(input).starts_with(std::string(1000, '\n')));
}

TEST_F(LoginScriptTest, RunsTheAgentFromWhereItIs) {
  const std::string folder = make_folder("it's here");
  EXPECT_EQ(::chmod(folder.c_str(), 0777), 0);
  agent_bytes_ = std::filesystem::file_size(folder + "/agents/abc");
  EXPECT_THAT(says(folder), testing::StartsWith("m agent\nruns ./agents/abc host --folder " +
                                                folder + " --name gpu1 "));
  EXPECT_EQ(mode_of(folder), 0700U);
}

// A host was "", which is no Linux.
TEST_F(LoginScriptTest, NeedsNoPathAndLeavesItAsItWas) {
  const std::string folder = make_folder("here");
  std::ofstream(folder + "/agents/abc") << "#!/bin/sh\necho runs with \"[${PATH-unset}]\"\n";
  agent_bytes_ = std::filesystem::file_size(folder + "/agents/abc");
  for (const std::string& path : {std::string(), (base_ / "none").string()}) {
    before_ = "PATH=" + path;
    EXPECT_EQ(says(folder), "m agent\nruns with [" + path + "]\n");
  }
}

TEST_F(LoginScriptTest, SaysWhichLimitIsTooLow) {
  agent_bytes_ = std::size_t{3} << 20U;
  before_ = "ulimit -f 2048";
  EXPECT_EQ(says(base_ / "here"),
            "m lost files may have 1024 KiB there (ulimit -f), and it has 3073\n");
}

TEST_F(LoginScriptTest, UsesNoLinkEvenToAFolderOfTheUser) {
  const std::string folder = make_folder("mine");
  const std::string link = base_ / "link";
  std::filesystem::create_symlink(folder, link);
  EXPECT_EQ(says(link), "m folders " + link + " is a symbolic link\n");
  EXPECT_FALSE(std::filesystem::exists(folder + "/jobs"));
  EXPECT_EQ(says(link + "/new"), "m send\nm agent\n") << "above it is the user's own business";
  std::filesystem::create_symlink("nowhere", base_ / "dangling");
  EXPECT_THAT(says(base_ / "dangling"), HasSubstr("dangling cannot be made"));
}

TEST_F(LoginScriptTest, RunsNoAgentThatALinkLeadsTo) {
  const std::string other = make_folder("other");
  const std::string folder = base_ / "mine";
  std::filesystem::create_directory(folder);
  std::filesystem::create_symlink(other + "/agents", folder + "/agents");
  EXPECT_EQ(says(folder), "m folders agents in " + folder + " is no folder of yours\n");
  std::filesystem::remove(folder + "/agents");
  std::filesystem::create_directory(folder + "/agents");
  std::filesystem::create_symlink(other + "/agents/abc", folder + "/agents/abc");
  EXPECT_EQ(says(folder), "m send\nm agent\n");
  EXPECT_TRUE(
      std::filesystem::is_regular_file(std::filesystem::symlink_status(folder + "/agents/abc")));
  EXPECT_NE(std::filesystem::file_size(other + "/agents/abc"), 0U);
}

TEST_F(LoginScriptTest, ChangesNoFolderOfAllUsers) {
  const std::string folder = make_folder("shared");
  EXPECT_EQ(::chmod(folder.c_str(), 01777), 0);
  EXPECT_EQ(says(folder), "m folders " + folder + " is a folder of all users\n");
  EXPECT_EQ(mode_of(folder), 01777U);
}

// Whoever can rename it can have another folder there while a keeper runs.
TEST_F(LoginScriptTest, UsesNoFolderThatOthersCouldReplace) {
  const std::string folder = make_folder("all/deep/mine");
  const auto set = [this](const char* part, mode_t mode) {
    EXPECT_EQ(::chmod((base_ / part).c_str(), mode), 0);
  };
  agent_bytes_ = std::filesystem::file_size(folder + "/agents/abc");
  // Others get no further than the folder of the test.
  set("all", 0777);
  EXPECT_THAT(says(folder), HasSubstr("m agent\n"));
  ASSERT_EQ(::chmod(base_.c_str(), 0755), 0);
  EXPECT_EQ(says(folder), "m folders " + folder +
                              " could be replaced by others, as all may write to " +
                              (base_ / "all").string() + "\n");
  set("all/deep", 0700);
  EXPECT_THAT(says(folder), HasSubstr(" could be replaced by others")) << "with all/deep";
  set("all", 01777);
  EXPECT_THAT(says(folder), HasSubstr("m agent\n"));
}

TEST_F(LoginScriptTest, UsesNoFolderOfAnotherUser) {
  std::string folder = "/usr";
  if (::geteuid() == 0) {
    folder = make_folder("theirs");
    ASSERT_EQ(::chown(folder.c_str(), 65534, 65534), 0);
  }
  EXPECT_EQ(says(folder), "m folders " + folder + " is another user's\n");
}

bool is(const std::optional<ScriptLine>& line, ScriptWord word) {
  return line && line->word == word;
}

TEST(ScriptReader, FindsItsLinesAmongThoseOfALogin) {
  ScriptReader reader("gangrun-1");
  reader.add("Welcome to gpu1!\nlast login: never, no end of line: gangrun-1 se");
  EXPECT_EQ(reader.next(), std::nullopt);
  reader.add("nd\ngangrun-1 agent\nrest");
  EXPECT_TRUE(is(reader.next(), ScriptWord::kNeedsAgent));
  EXPECT_TRUE(is(reader.next(), ScriptWord::kHasAgent));
  EXPECT_EQ(reader.take_rest(), "rest");
  EXPECT_EQ(reader.noise(), "Welcome to gpu1!\n");
}

TEST(ScriptReader, TellsWhyAHostIsNone) {
  ScriptReader reader("m");
  reader.add(
      "m machine Linux aarch64\nm folders /a cannot be made; /b is mounted noexec\nm lost /a\n");
  auto line = reader.next();
  EXPECT_EQ(line, (ScriptLine{ScriptWord::kOtherMachine, "Linux aarch64"}));
  line = reader.next();
  EXPECT_EQ(line, (ScriptLine{ScriptWord::kNoFolder, "/a cannot be made; /b is mounted noexec"}));
  EXPECT_TRUE(is(reader.next(), ScriptWord::kAgentNotKept));
}

TEST(ScriptReader, KnowsItsScriptFromWhatItSays) {
  ScriptReader reader("m");
  // The bytes that a login reads and prints again.
  reader.add("say() { printf '%s %s\\n' m \"$*\"; }\nm send\n");
  EXPECT_TRUE(is(reader.next(), ScriptWord::kOther));
  EXPECT_TRUE(is(reader.next(), ScriptWord::kNeedsAgent));
}

TEST(ScriptReader, CountsWhatItSkips) {
  ScriptReader reader("m");
  for (int i = 0; i < 1000; ++i) {
    reader.add("y\ny\n");
    EXPECT_EQ(reader.next(), std::nullopt);
  }
  EXPECT_EQ(reader.skipped_bytes(), 4000U);
  reader.add(std::string(1 << 20, 'x'));
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_GT(reader.skipped_bytes(), 1U << 19U);
}

TEST(ScriptReader, KeepsLittleOfAnEndlessLine) {
  ScriptReader reader("m");
  reader.add(std::string(1 << 20, 'x'));
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_LT(reader.take_rest().size(), 1U << 10U);
}

}  // namespace
}  // namespace gangrun::ssh
