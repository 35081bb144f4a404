#include "host/silent_master.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>

namespace gangrun::host {
namespace {

class SilentMasterTest : public testing::Test {
 protected:
  SilentMasterTest() {
    std::string name = testing::TempDir() + "silent_XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) paths_.folder = name;
  }
  ~SilentMasterTest() override {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    std::filesystem::remove_all(paths_.folder);
  }

  // A process that listens at the job's socket, and then stops. It calls nothing that a thread of
  // ours may have locked.
  void start_and_stop_listener() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = paths_.socket();
    ASSERT_LT(path.size(), sizeof address.sun_path);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    child_ = ::fork();
    ASSERT_GE(child_, 0);
    if (child_ == 0) {
      const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
      if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
          ::listen(fd, 8) != 0) {
        ::_exit(1);
      }
      ::kill(::getpid(), SIGSTOP);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child_, &status, WUNTRACED), child_);
    ASSERT_TRUE(WIFSTOPPED(status));
  }

  JobPaths paths_;
  pid_t child_ = -1;
};

TEST_F(SilentMasterTest, AStoppedOneIsFoundAndKilled) {
  start_and_stop_listener();
  const auto master = listening_master(paths_);
  ASSERT_TRUE(master.ok()) << master.error().message;
  EXPECT_EQ(master->pid(), child_);
  const auto killed =
      kill_master(*master, std::chrono::steady_clock::now() + std::chrono::seconds(30));
  ASSERT_TRUE(killed.ok()) << killed.error().message;
  int status = 0;
  ASSERT_EQ(::waitpid(child_, &status, 0), child_);
  child_ = -1;
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  // Its socket is still there.
  EXPECT_EQ(listening_master(paths_).error().code, base::Code::kUnavailable);
}

TEST_F(SilentMasterTest, WithoutASocketThereIsNone) {
  EXPECT_EQ(listening_master(paths_).error().code, base::Code::kUnavailable);
}

}  // namespace
}  // namespace gangrun::host
