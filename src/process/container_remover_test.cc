#include "process/container_remover.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/format.h"

namespace gangrun::process {
namespace {

class Remover : public testing::Test {
 protected:
  Remover() {
    std::ofstream(engine_) << "#!/bin/sh\necho $4 >>" << engine_ << ".removed\n";
    ::chmod(engine_.c_str(), 0755);
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read_.reset(ends[0]);
    write_.reset(ends[1]);
  }
  ~Remover() override {
    std::filesystem::remove(engine_);
    std::filesystem::remove(engine_ + ".removed");
  }
  // How often the container was removed.
  std::size_t removals() {
    EXPECT_TRUE(remove_when_ordered(read_.get(), {engine_, {"a"}}).ok());
    std::ifstream file(engine_ + ".removed");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(text.substr(0, 2), "a\n");
    return text.size() / 2;
  }

  std::string engine_ = fmt::format("{}/remover.{}", testing::TempDir(), ::getpid());
  base::UniqueFd read_;
  base::UniqueFd write_;
};

TEST_F(Remover, LooksAgainWhereEverybodyElseWasKilled) {
  write_.reset();
  EXPECT_GT(removals(), 1U);
}

TEST_F(Remover, RemovesOnceWhereNothingCanComeAnyMore) {
  ContainerRemover remover{std::move(write_), base::UniqueFd(::open("/dev/null", O_RDONLY))};
  EXPECT_TRUE(order_removal(remover, true, std::chrono::steady_clock::now()).ok());
  EXPECT_EQ(removals(), 1U);
}

TEST_F(Remover, ThatIsNotDoneInTimeIsTold) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const base::UniqueFd held(ends[1]);
  ContainerRemover remover{std::move(write_), base::UniqueFd(ends[0])};
  const auto ordered = order_removal(remover, false, std::chrono::steady_clock::now());
  ASSERT_FALSE(ordered.ok());
  EXPECT_THAT(ordered.error().message, testing::HasSubstr("not removed in time"));
}

TEST_F(Remover, IsNotNeededWithoutContainers) {
  auto remover = start_container_remover({});
  ASSERT_TRUE(remover.ok());
  EXPECT_FALSE(remover->order.valid());
  EXPECT_TRUE(order_removal(*remover, true, {}).ok());
}

}  // namespace
}  // namespace gangrun::process
