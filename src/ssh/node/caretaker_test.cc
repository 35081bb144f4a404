#include "ssh/node/caretaker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "base/test_deadline.h"
#include "process/agent_processes.h"
#include "process/pipe.h"
#include "process/spawn.h"
#include "ssh/frames.h"
#include "ssh/keeper_messages.h"
#include "ssh/node/run_folder.h"

namespace gangrun::ssh::node {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kNoPatience(0);

// Until nobody holds the other end.
std::string all_of(int fd) {
  std::string all;
  char buffer[256];
  ssize_t got = 0;
  while ((got = ::read(fd, buffer, sizeof(buffer))) > 0) {
    all.append(buffer, static_cast<std::size_t>(got));
  }
  return all;
}

// The machine of the keeper that has written its name into this lock.
std::string machine_of(const std::string& lock) {
  std::string pid;
  std::string ticks;
  std::string machine;
  std::ifstream(lock) >> pid >> ticks >> machine;
  return machine;
}

// Tells what a caretaker has done by how often it asked for the time.
class CountingClock final : public base::Clock {
 public:
  // For its two waits, and before each look.
  static constexpr int kAsksWithALook = 4;

  [[nodiscard]] base::Instant now() const override {
    ++asked;
    return base::SystemClock().now();
  }
  [[nodiscard]] base::WallTime wall_now() const override { return base::SystemClock().wall_now(); }

  mutable std::atomic<int> asked = 0;
};

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
  void take_care() {
    ssh::node::take_care({.life = pipe_.read.get()}, folder_->path(), clock_, kNoPatience);
  }
  // As the first of two, which has the link.
  void take_care_of_link(int has_client, base::UniqueFd link) {
    ssh::node::take_care(
        {.life = pipe_.read.get(), .has_client = has_client, .link = link.release()},
        folder_->path(), clock_, kNoPatience);
  }
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

// A storm found one empty: a job of the next day would have removed it.
TEST_F(CaretakerTest, RemovesAFolderThatItsKeeperHadJustBegunToMakeOrHadNearlyRemoved) {
  for (const char* last : {"", "/lock"}) {
    fs::remove_all(folder_->path() + last);
    fs::create_directories(folder_->path());
    kill_keeper();
    take_care();
    EXPECT_FALSE(is_there()) << last;
  }
}

// Each took the other for a keeper, and went.
TEST_F(CaretakerTest, OneOfTwoWaitsForTheEndOfTheOther) {
  const std::string path = folder_->path() + "/caretaker";
  base::UniqueFd first(::open(path.c_str(), O_RDWR | O_CLOEXEC));
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

// A process that a login had left held the link, and nobody heard of the keeper's end.
TEST_F(CaretakerTest, TellsTheClientOfAKilledKeeper) {
  process::Pipe client = *process::make_pipe();
  process::Pipe link = *process::make_pipe();
  client.write.reset();
  kill_keeper();
  take_care_of_link(client.read.get(), std::move(link.write));
  ssh::FrameReader frames;
  frames.add(all_of(link.read.get()));
  const auto frame = frames.next();
  ASSERT_TRUE(frame.ok() && *frame);
  const auto* message = std::get_if<ssh::MessageFrame>(&**frame);
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->message, ssh::to_json(ssh::LeavingMessage{}));
}

// ssh waits for whoever holds it.
TEST_F(CaretakerTest, LetsGoOfTheLinkWithAKeeperThatHasNoClientAnyMore) {
  process::Pipe client = *process::make_pipe();
  process::Pipe link = *process::make_pipe();
  std::thread caretaker([&] { take_care_of_link(client.read.get(), std::move(link.write)); });
  client.write.reset();
  // While the keeper lives.
  EXPECT_EQ(all_of(link.read.get()), "");
  kill_keeper();
  caretaker.join();
}

TEST_F(CaretakerTest, LeavesTheFolderToAnotherKeeper) {
  kill_keeper();
  auto other = RunFolder::open(base_, "wine-1", "gpu1", folder_->name(), base::soon());
  ASSERT_TRUE(other.ok()) << other.error().message;
  take_care();
  EXPECT_TRUE(is_there());
}

// It took whoever had the lock for a keeper, and went: a login that looks after folders, or the
// keeper itself, whose end the kernel had not finished.
TEST_F(CaretakerTest, WaitsForWhoHasTheLockAndIsNoKeeper) {
  kill_keeper();
  const std::string path = folder_->path() + "/lock";
  const std::string machine = machine_of(path);
  std::ofstream(path) << "1 0 " << machine << " gpu1";
  base::UniqueFd lock(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(RunFolder::state_of(folder_->path()), RunFolder::State::kBusy);
  const CountingClock clock;
  std::thread caretaker([&] {
    ssh::node::take_care({.life = pipe_.read.get()}, folder_->path(), clock, kNoPatience);
  });
  const auto deadline = base::soon();
  while (clock.asked < CountingClock::kAsksWithALook && base::SystemClock().now() < deadline) {
    std::this_thread::yield();
  }
  lock.reset();
  caretaker.join();
  EXPECT_FALSE(is_there());
}

TEST_F(CaretakerTest, IsOverWithAFolderThatIsGone) {
  EXPECT_TRUE(folder_->remove(base::soon()).ok());
  kill_keeper();
  take_care();
  EXPECT_FALSE(is_there());
}

// It made a file there, and a keeper that was just removing the folder left it, without its lock.
TEST_F(CaretakerTest, MakesNothingInAFolderThatIsBeingRemoved) {
  fs::remove(folder_->path() + "/caretaker");
  folder_->give_up();
  fs::remove(folder_->path() + "/lock");
  pipe_.write.reset();
  take_care();
  EXPECT_FALSE(fs::exists(folder_->path() + "/caretaker"));
}

// Files that tasks have written stay for a day, as where a keeper ends by itself.
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
  while (process::agent_processes(job_id_on_host("wine-1", "gpu1")).empty()) {
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
}  // namespace gangrun::ssh::node
