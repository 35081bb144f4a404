#include "process/container_report.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "base/format.h"

namespace gangrun::process {
namespace {

class Report : public testing::Test {
 protected:
  ~Report() override { ::unlink(path_.c_str()); }
  ContainerReport written_and_read(const ContainerReport& report) {
    EXPECT_TRUE(write_container_report(path_, report).ok());
    return read_container_report(path_).value();
  }

  std::string path_ = fmt::format("{}/report.{}", testing::TempDir(), ::getpid());
};

TEST_F(Report, TellsTheUseOfAContainerThatRuns) {
  const ContainerReport read = written_and_read({{1000, 2.5}, std::nullopt, ""});
  EXPECT_EQ(read.usage.memory_bytes, 1000U);
  EXPECT_EQ(read.usage.cpu_seconds, 2.5);
}

TEST_F(Report, TellsAStatusFromASignal) {
  Exit exit;
  exit.code = 137;
  EXPECT_EQ(written_and_read({{}, exit, ""}).exit->to_words(), "exited with status 137");
  exit = Exit{.signal = SIGSEGV, .core_dumped = true};
  const ContainerReport read = written_and_read({{}, exit, ""});
  EXPECT_EQ(read.exit->to_words(), "was killed by signal 11 (segmentation fault, core dumped)");
}

TEST_F(Report, TellsWhyAProgramDidNotStart) {
  const ContainerReport read = written_and_read({{}, std::nullopt, "cannot start x"});
  EXPECT_EQ(read.error, "cannot start x");
}

TEST_F(Report, IsNoneWhereThereIsNoFileOrAnother) {
  EXPECT_FALSE(read_container_report(path_));
  std::ofstream(path_) << "[1]";
  EXPECT_FALSE(read_container_report(path_));
  std::ofstream(path_) << R"({"status": "x", "memory_bytes": "y"})";
  EXPECT_FALSE(read_container_report(path_));
}

}  // namespace
}  // namespace gangrun::process
