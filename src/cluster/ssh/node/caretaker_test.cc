#include "cluster/ssh/node/caretaker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/time.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "base/test_deadline.h"
#include "cluster/kept/agent_processes.h"
#include "cluster/ssh/node/run_folder.h"
#include "process/child.h"
#include "process/pipe.h"
#include "process/spawn.h"

namespace gangrun::node {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kNoPatience(0);

// A job's folder, whose keeper is this test.
class CaretakerTest : public testing::Test {
 protected:
  CaretakerTest() : pipe_(*process::make_pipe()) {
    std::string text = "/tmp/gangrun-care-XXXXXX";
    base_ = ::mkdtemp(text.data());
    folder_.emplace(*RunFolder::open(base_, "wine-1", "gpu1", "", base::soon()));
  }
  ~CaretakerTest() override { fs::remove_all(base_); }

  // As the end of a process gives up what it had.
  void kill_keeper() {
    folder_->give_up();
    pipe_.write.reset();
  }
  void take_care() { node::take_care(pipe_.read.get(), folder_->path(), clock_, kNoPatience); }
  [[nodiscard]] bool is_there() const { return fs::exists(folder_->path()); }

  base::SystemClock clock_;
  std::string base_;
  process::Pipe pipe_;
  std::optional<RunFolder> folder_;
};

// It stayed until another job of the next day came to the host.
TEST_F(CaretakerTest, RemovesTheFolderOfAKeeperThatWasKilled) {
  kill_keeper();
  take_care();
  EXPECT_FALSE(is_there());
}

// Each took the other for a keeper, and went.
TEST_F(CaretakerTest, OneOfTwoWaitsForTheEndOfTheOther) {
  const std::string path = folder_->path() + "/caretaker";
  base::UniqueFd first(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  ASSERT_EQ(::fcntl(first.get(), F_OFD_SETLK, &lock), 0);
  kill_keeper();
  std::thread second([this] { take_care(); });
  EXPECT_TRUE(is_there());
  first.reset();  // as where it is killed
  second.join();
  EXPECT_FALSE(is_there());
}

TEST_F(CaretakerTest, DoesNothingWhileTheKeeperLives) {
  std::thread caretaker([this] { take_care(); });
  folder_->give_up();
  EXPECT_TRUE(is_there());
  pipe_.write.reset();
  caretaker.join();
  EXPECT_FALSE(is_there());
}

TEST_F(CaretakerTest, LeavesTheFolderToAnotherKeeper) {
  kill_keeper();
  auto other = RunFolder::open(base_, "wine-1", "gpu1", folder_->name(), base::soon());
  ASSERT_TRUE(other.ok()) << other.error().message;
  take_care();
  EXPECT_TRUE(is_there());
}

TEST_F(CaretakerTest, IsOverWithAFolderThatIsGone) {
  folder_->remove(base::soon());
  kill_keeper();
  take_care();
  EXPECT_FALSE(is_there());
}

// What tasks have written stays for a day, as where a keeper ends by itself.
TEST_F(CaretakerTest, LeavesWhatTasksHaveWritten) {
  std::ofstream(folder_->path() + "/work" + "/model") << "weights";
  kill_keeper();
  take_care();
  EXPECT_TRUE(fs::exists(folder_->path() + "/work" + "/model"));
  EXPECT_EQ(RunFolder::state_of(folder_->path()), RunFolder::State::kNotOurs);
}

TEST_F(CaretakerTest, WaitsForAgentsThatLive) {
  process::Pipe of_agent = *process::make_pipe();
  process::SpawnOptions options;
  // As an agent's command line, which a shell takes as its parameters.
  options.argv = {"sh", "-c",     "read line",
                  "sh", "--name", job_id_on_host("wine-1", "gpu1") + ".w.0"};
  options.standard_input = of_agent.read.get();
  auto agent = process::spawn(options);
  ASSERT_TRUE(agent.ok()) << agent.error().message;
  while (cluster::agent_processes(job_id_on_host("wine-1", "gpu1")).empty()) {
    std::this_thread::yield();
  }
  kill_keeper();
  EXPECT_EQ(RunFolder::state_of(folder_->path()), RunFolder::State::kHasAgents);
  std::thread caretaker([this] { take_care(); });
  EXPECT_TRUE(is_there());
  of_agent.write.reset();
  ASSERT_TRUE(agent->wait(base::soon()).ok());
  caretaker.join();
  EXPECT_FALSE(is_there());
}

}  // namespace
}  // namespace gangrun::node
