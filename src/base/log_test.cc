#include "base/log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
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

TEST_F(LogTest, AMessageIsOneShortLineWhateverAPeerHasPutIntoIt) {
  const std::string path = folder_ + "/x.log";
  const auto logger = file_logger(path, LogLevel::kInfo);
  ASSERT_TRUE(logger.ok());
  (*logger)->info("{}: given notice",
                  "ana\n2026-01-31T12:00:00.123Z info the job has succeeded\x1b[2J");
  (*logger)->info("{}", std::string(1U << 20U, 'x'));
  const auto text = read_file(path, 1U << 20U);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(std::count(text->begin(), text->end(), '\n'), 2);
  EXPECT_NE(text->find("ana\\n2026-01-31T12:00:00.123Z info the job"), std::string::npos) << *text;
  EXPECT_EQ(text->find('\x1b'), std::string::npos);
  EXPECT_LT(text->size(), 20'000U);
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
