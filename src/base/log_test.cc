#include "base/log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "base/files.h"

namespace gangrun::base {
namespace {

class LogTest : public testing::Test {
 protected:
  LogTest() {
    std::string pattern = testing::TempDir() + "log_test.XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~LogTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

TEST_F(LogTest, MessagesAreInThePrivateFileAtOnceWithTimeAndLevel) {
  const std::string path = folder_ + "/x.log";
  const auto logger = file_logger(path, LogLevel::kInfo);
  ASSERT_TRUE(logger.ok());
  (*logger)->debug("not {}", "this");
  (*logger)->warning("worker:{} is late", 3);
  const auto text = read_file(path, 1000);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->find("not this"), std::string::npos);
  EXPECT_NE(text->find("Z warning worker:3 is late\n"), std::string::npos) << *text;
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(LogTest, AnImpossibleFileIsAnErrorThatNamesIt) {
  const auto logger = file_logger(folder_ + "/missing/x.log", LogLevel::kInfo);
  ASSERT_FALSE(logger.ok());
  EXPECT_NE(logger.error().message.find("missing/x.log"), std::string::npos);
}

TEST(StderrLogger, SaysWhoSpeaksAndLeavesOutWhatIsBelowTheMinimum) {
  testing::internal::CaptureStderr();
  const auto logger = stderr_logger("gangrun", LogLevel::kWarning);
  logger->info("quiet");
  logger->error("loud");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "gangrun: loud\n");
}

}  // namespace
}  // namespace gangrun::base
