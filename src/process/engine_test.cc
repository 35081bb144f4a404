#include "process/engine.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "base/format.h"

namespace gangrun::process {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::TempDir;

// A folder with programs that say and do what a test wants.
class Engine : public testing::Test {
 protected:
  Engine() : folder_(fmt::format("{}/engine.{}", TempDir(), ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Engine() override { std::filesystem::remove_all(folder_); }

  std::string program(const std::string& name, const std::string& script) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << script;
    ::chmod(path.c_str(), 0755);
    return path;
  }
  base::Result<> removal(const std::string& script, base::Duration limit,
                         base::Duration settling = base::Duration::zero()) {
    return remove_containers({program("docker", script), {"a", "b"}}, settling,
                             std::chrono::steady_clock::now() + limit);
  }
  [[nodiscard]] std::string counted() const {
    std::ifstream file(folder_ + "/count");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder_;
};

TEST_F(Engine, IsDockerBeforePodmanUnlessAnotherIsNamed) {
  const std::string podman = program("podman", "");
  EXPECT_EQ(*find_engine("", folder_), podman);
  const std::string docker = program("docker", "");
  EXPECT_EQ(*find_engine("", folder_ + "/none:" + folder_), docker);
  EXPECT_EQ(*find_engine("podman", folder_), podman);
  EXPECT_EQ(*find_engine(podman, folder_ + "/none"), podman);
}

TEST_F(Engine, ThatIsNotThereIsNamedWithWhereItWasLookedFor) {
  EXPECT_THAT(find_engine("", folder_).error().message,
              testing::AllOf(HasSubstr("neither docker nor podman"), HasSubstr(folder_)));
  EXPECT_THAT(find_engine("moby", folder_).error().message,
              testing::AllOf(HasSubstr("GANGRUN_CONTAINER_ENGINE: 'moby'"), HasSubstr(folder_)));
  const std::string gone = folder_ + "/none/docker";
  EXPECT_THAT(find_engine(gone, folder_).error().message, HasSubstr("'" + gone + "'"));
}

TEST_F(Engine, RemovesByName) {
  EXPECT_THAT(removal_argv({"/usr/bin/docker", {"a", "b"}}),
              ElementsAre("/usr/bin/docker", "rm", "--force", "--volumes", "a", "b"));
}

TEST_F(Engine, SaysInItsWordsThatThereIsNoContainer) {
  EXPECT_TRUE(says_absent("Error: No such container: a\nError: No such container: b\n"));
  EXPECT_TRUE(says_absent("Error: no container with ID or name \"a\" found: no such container\n"));
  EXPECT_FALSE(says_absent("Error: No such container: a\nCannot connect to the daemon\n"));
  EXPECT_FALSE(says_absent(""));
}

TEST_F(Engine, ThatHasNoSuchContainersHasNothingToRemove) {
  EXPECT_TRUE(removal("echo No such container: $4 >&2; exit 1", std::chrono::seconds(20)).ok());
}

TEST_F(Engine, IsAskedAgainWhileItIsStillRemoving) {
  const auto removed =
      removal(fmt::format("echo x >>{0}/count; [ $(wc -l <{0}/count) = 3 ] && exit 0\n"
                          "echo removal of container a is already in progress; exit 1",
                          folder_),
              std::chrono::seconds(20));
  EXPECT_TRUE(removed.ok()) << removed.error().message;
  EXPECT_EQ(counted(), "x\nx\nx\n");
}

TEST_F(Engine, IsAskedAgainForWhatAKilledClientMayStillHaveMade) {
  EXPECT_TRUE(removal(fmt::format("echo x >>{}/count", folder_), std::chrono::seconds(20),
                      std::chrono::milliseconds(150))
                  .ok());
  EXPECT_GE(counted().size(), 4U);
}

TEST_F(Engine, ThatFailsIsTold) {
  const auto removed = removal("echo Cannot connect; exit 1", std::chrono::milliseconds(1));
  ASSERT_FALSE(removed.ok());
  EXPECT_THAT(removed.error().message, HasSubstr("the containers a, b are not removed"));
}

TEST_F(Engine, ThatHangsIsKilledAndTold) {
  const auto removed = removal("exec sleep 1000", std::chrono::milliseconds(200));
  ASSERT_FALSE(removed.ok());
  EXPECT_THAT(removed.error().message,
              testing::AllOf(HasSubstr("a, b"), HasSubstr("did not answer in time")));
}

// It lets go of what it holds, and its end closes the connection to the engine's server.
TEST_F(Engine, ThatHangsIsToldToEndBeforeItIsKilled) {
  const std::string told = folder_ + "/told";
  EXPECT_FALSE(
      removal(base::format("trap 'echo told >{}; exit' TERM; while :; do sleep 0.01; done", told),
              std::chrono::milliseconds(300))
          .ok());
  EXPECT_EQ(base::read_file(told, 100).value_or(""), "told\n");
}

TEST_F(Engine, IsNotNeededWithoutContainers) {
  EXPECT_TRUE(remove_containers({}, base::Duration::zero(), base::Instant()).ok());
}

TEST_F(Engine, AnAnswerThatNobodyWantsAnyMoreIsNotWaitedFor) {
  const std::string slow = program("docker", "echo begun; exec sleep 600");
  int looks = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(300);
  EXPECT_FALSE(ask({slow, "version"}, deadline, [&looks] { return ++looks > 2; }).ok());
  EXPECT_LT(std::chrono::steady_clock::now(), deadline);
}

TEST_F(Engine, AnAnswerThatIsTooLongIsHeardToItsEndAndItsBeginningKept) {
  const std::string long_one = program("docker", "head -c 1000000 /dev/zero; exit 7");
  const auto answer = ask({long_one}, std::chrono::steady_clock::now() + std::chrono::seconds(300));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 7);
  EXPECT_EQ(answer->output.size(), std::size_t{64} << 10U);
}

TEST_F(Engine, AnAnswerWithoutAnEndIsEnded) {
  const std::string endless = program("docker", "exec cat /dev/zero");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(300);
  const auto answer = ask({endless}, deadline);
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("wrote more than 4 MiB"));
  EXPECT_LT(std::chrono::steady_clock::now(), deadline);
}

// One that answered between the look at its output and the look whether it lives had said nothing,
// with status 0.
TEST_F(Engine, AnAnswerThatComesWithTheEndIsHeard) {
  const std::string slow = program(
      "docker", fmt::format("until [ -e {0}/asked ]; do sleep 0.01; done; echo here", folder_));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(300);
  const auto answer = ask({slow}, deadline, [&] {
    // Its output was silent just now.
    std::ofstream(folder_ + "/asked").put('x');
    siginfo_t ended{};
    return ::waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT) != 0;
  });
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->output, "here\n");
}

TEST_F(Engine, WhoIsStartedByItAndKeepsItsOutputIsNotWaitedFor) {
  const std::string starter =
      program("docker", fmt::format("sleep 1000 & echo $! >{}/count; echo here", folder_));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(300);
  const auto answer = ask({starter}, deadline);
  EXPECT_EQ(::kill(std::stoi(counted()), SIGKILL), 0);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->output, "here\n");
  EXPECT_LT(std::chrono::steady_clock::now(), deadline);
}

}  // namespace
}  // namespace gangrun::process
