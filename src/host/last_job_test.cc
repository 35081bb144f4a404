#include "host/last_job.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "host/job_folder.h"

namespace gangrun::host {
namespace {

constexpr const char* kApplication = "application_1700000000000_0001";
const base::WallTime kNoon = base::WallTime(std::chrono::seconds(1'769'860'800));

class LastJobTest : public testing::Test {
 protected:
  LastJobTest() {
    std::string name = testing::TempDir() + "last_job_XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    home_ = name + "/home";
  }
  ~LastJobTest() override {
    std::filesystem::remove_all(std::filesystem::path(home_).parent_path());
  }
  void keep_job(base::WallTime submitted) const {
    std::filesystem::create_directories(home_ + "/jobs/" + make_job_id("hello", submitted, 7));
  }

  std::string home_;
};

// After a job on YARN it was said that there is no job yet.
TEST_F(LastJobTest, IsTheOneThatWasSubmittedLastWhereverItRuns) {
  EXPECT_EQ(newest_is_elsewhere(home_), std::nullopt);
  keep_job(kNoon);
  ASSERT_TRUE(note_job_elsewhere(home_, kApplication, kNoon + std::chrono::seconds(1)).ok());
  EXPECT_EQ(newest_is_elsewhere(home_), kApplication);
  keep_job(kNoon + std::chrono::seconds(2));
  EXPECT_EQ(newest_is_elsewhere(home_), std::nullopt);
}

TEST_F(LastJobTest, OneThatWasRemovedIsNoneAnyMore) {
  ASSERT_TRUE(note_job_elsewhere(home_, kApplication, kNoon).ok());
  forget_job_elsewhere(home_, "application_1700000000000_0002");
  EXPECT_EQ(newest_is_elsewhere(home_), kApplication);
  forget_job_elsewhere(home_, kApplication);
  EXPECT_EQ(newest_is_elsewhere(home_), std::nullopt);
}

TEST_F(LastJobTest, ANoteThatIsNoneIsNotBelieved) {
  std::filesystem::create_directories(home_);
  for (const char* text : {"", "\n", "x", "x yesterday\n", "x\n2026-01-31T12:00:00.000Z\n"}) {
    std::ofstream(home_ + "/last-elsewhere") << text;
    EXPECT_EQ(newest_is_elsewhere(home_), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace gangrun::host
