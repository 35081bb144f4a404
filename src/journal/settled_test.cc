#include "journal/settled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "journal/sample_records.h"
#include "journal/segments.h"
#include "journal/test_folder.h"
#include "journal/writer.h"

namespace gangrun::journal {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

const job::TaskId kSettledFirst{"worker", 0};
const job::TaskId kSettledSecond{"worker", 1};

class SettledTest : public ::testing::Test {
 protected:
  void SetUp() override { begin(folder_, sample_spec()); }
  void begin(const TestFolder& folder, const job::JobSpec& spec) {
    Opening opening;
    opening.job_id = "wine-1";
    opening.origin = now_;
    opening.started = wall_;
    writer_ = *Writer::create(folder.path(), opening);
    ASSERT_TRUE(writer_->append(SpecRecord{spec}).ok());
    step(gang::Begin{});
    for (const job::TaskId& task : {kSettledFirst, kSettledSecond}) {
      step(gang::Allocated{task, 1, "host1"});
      step(gang::Reported{task, 1, {"host1", static_cast<std::uint16_t>(40'000 + task.index)}});
    }
    for (const job::TaskId& task : {kSettledFirst, kSettledSecond}) step(gang::Started{task, 1});
  }
  void step(const gang::Event& event) {
    now_ += seconds(1);
    wall_ += seconds(1);
    ASSERT_TRUE(writer_->event(event, now_).ok());
  }
  void exits(const job::TaskId& task, int code) {
    job::ExitReport report;
    report.success = code == 0;
    report.why = {.reason = code == 0 ? job::Reason::kUnknown : job::Reason::kExitStatus,
                  .code = code};
    if (code != 0) report.last_lines = {"ValueError: no"};
    step(job::Exited{task, 1, report, now_ + seconds(1)});
  }
  base::Result<job::JobStatus> settled_status() {
    job::JobStatus last = sample_status(job::JobState::kRunning);
    for (job::TaskStatus& task : last.tasks) task.pid = 4711;
    return settled(folder_.path(), std::move(last), now_ + seconds(3600), wall_ + seconds(3600));
  }

  TestFolder folder_;
  std::unique_ptr<Writer> writer_;
  base::Instant now_{seconds(7'000)};
  base::WallTime wall_{seconds(1'769'860'800)};
};

TEST_F(SettledTest, AFailureThatIsRecordedIsTheEndOfAJobThatWasKilledWhole) {
  exits(kSettledSecond, 3);
  const auto status = settled_status();
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->state, job::JobState::kFailed);
  ASSERT_TRUE(status->cause);
  EXPECT_EQ(status->cause->task, kSettledSecond);
  EXPECT_EQ(status->cause->why.code, 3);
  EXPECT_THAT(status->cause->last_lines, ElementsAre("ValueError: no"));
  EXPECT_EQ(status->tasks[1].state, job::TaskState::kFailed);
  EXPECT_EQ(status->tasks[0].state, job::TaskState::kLost) << "it was still being stopped";
  EXPECT_EQ(status->tasks[0].pid, 0);
  EXPECT_EQ(status->ended, "2026-01-31T12:00:08.000Z");
  EXPECT_EQ(status->elapsed_ms, 8'000);
  EXPECT_THAT(status->notes, ElementsAre(HasSubstr("before it recorded")));
}

TEST_F(SettledTest, ASuccessForWhoseVerdictThereWasNoRoomIsASuccess) {
  exits(kSettledFirst, 0);
  exits(kSettledSecond, 0);
  const auto status = settled_status();
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->state, job::JobState::kSucceeded);
  EXPECT_FALSE(status->cause);
}

// It was told as lost: both had ended while no master was there, and no master came.
TEST_F(SettledTest, RunsThatEndedWithoutAMasterDecideAsIfItHadHeard) {
  exits(kSettledFirst, 0);
  for (const int code : {0, 3}) {
    const auto left = [code](const job::TaskId& task, int attempt) {
      EXPECT_EQ(attempt, 1);
      job::RunEnd end{1, {}};
      end.report.success = code == 0;
      end.report.why = {.reason = job::Reason::kExitStatus, .code = code};
      return task == kSettledSecond ? std::optional(end) : std::nullopt;
    };
    const auto status = settled(folder_.path(), sample_status(job::JobState::kRunning),
                                now_ + seconds(3600), wall_ + seconds(3600), left);
    ASSERT_TRUE(status.ok()) << status.error().message;
    EXPECT_EQ(status->state, code == 0 ? job::JobState::kSucceeded : job::JobState::kFailed);
    EXPECT_EQ(status->tasks[1].state,
              code == 0 ? job::TaskState::kSucceeded : job::TaskState::kFailed);
    EXPECT_THAT(status->notes, ElementsAre(HasSubstr("before it recorded")));
  }
}

TEST_F(SettledTest, WhoAskedForTheEndIsItsCause) {
  step(gang::StopRequested{"Ctrl-C", false});
  exits(kSettledFirst, 1);
  const auto status = settled_status();
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->state, job::JobState::kKilled);
  EXPECT_EQ(status->cause->why.detail, "Ctrl-C");
}

TEST_F(SettledTest, WhatIsNotDecidedStaysAsItWas) {
  exits(kSettledFirst, 0);
  auto status = settled_status();
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->state, job::JobState::kRunning);
  EXPECT_TRUE(status->notes.empty());
  const TestFolder empty;
  status = settled(empty.path(), sample_status(job::JobState::kRollCall), now_, wall_);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->state, job::JobState::kRollCall);
  write_content(segment_path(empty.path(), 1), "no journal\n");
  EXPECT_FALSE(settled(empty.path(), sample_status(job::JobState::kRollCall), now_, wall_).ok());
}

TEST_F(SettledTest, OfAJobThatItsPlaceHasEndedWhatHadNotEndedIsLost) {
  exits(kSettledFirst, 0);
  const auto left = [](const std::string& folder) {
    return left_behind(folder, base::Instant(seconds(9'000)),
                       base::WallTime(seconds(1'769'870'000)));
  };
  const auto status = left(folder_.path());
  ASSERT_TRUE(status.ok() && *status) << status.error().message;
  EXPECT_FALSE(job::is_final((*status)->state));
  EXPECT_EQ((*status)->has_run, true);
  EXPECT_EQ((*status)->name, sample_spec().name);
  ASSERT_GE((*status)->tasks.size(), 2U);
  EXPECT_EQ((*status)->tasks[0].state, job::TaskState::kSucceeded);
  EXPECT_EQ((*status)->tasks[1].state, job::TaskState::kLost);
  const TestFolder empty;
  EXPECT_EQ(*left(empty.path()), std::nullopt);
  exits(kSettledSecond, 3);
  EXPECT_EQ((*left(folder_.path()))->state, job::JobState::kFailed);
}

// A task that waits for its next run must not be given the end of the run before it.
TEST_F(SettledTest, HowARunEndedIsNotTheEndOfATaskThatWasToRunAgain) {
  job::JobSpec spec = sample_spec();
  spec.restarts = {.max = 1, .scope = job::RestartScope::kTask, .pause = std::chrono::minutes(1)};
  const TestFolder folder;
  begin(folder, spec);
  exits(kSettledFirst, 0);
  exits(kSettledSecond, 3);
  const auto status = left_behind(folder.path(), now_, wall_);
  ASSERT_TRUE(status.ok() && *status) << status.error().message;
  EXPECT_TRUE((*status)->tasks[0].exit);
  EXPECT_EQ((*status)->tasks[1].state, job::TaskState::kLost);
  EXPECT_EQ((*status)->tasks[1].exit, std::nullopt);
}

}  // namespace
}  // namespace gangrun::journal
