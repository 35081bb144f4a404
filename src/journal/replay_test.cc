#include "journal/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "journal/sample_records.h"
#include "journal/test_folder.h"
#include "journal/writer.h"

namespace gangrun::journal {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const job::TaskId kReplayedFirst{"worker", 0};
const job::TaskId kReplayedSecond{"worker", 1};

// A master of a job whose journal is in a folder, by a clock that the test moves.
class ReplayTest : public ::testing::Test {
 protected:
  void begin_segment(int attempt) {
    Opening opening;
    opening.job_id = "wine-1";
    opening.attempt = attempt;
    opening.origin = now_;
    opening.started = wall();
    writer_ = *Writer::create(folder_.path(), opening);
    if (attempt > 1) return;
    ASSERT_TRUE(writer_->append(SpecRecord{sample_spec()}).ok());
  }
  void step(const gang::Event& event) {
    now_ += base::Duration(1'234'567);
    ASSERT_TRUE(writer_->event(event, now_).ok());
    gang_.step(event, now_);
  }
  void run_all() {
    step(gang::Begin{});
    for (const job::TaskId& task : {kReplayedFirst, kReplayedSecond}) {
      step(gang::Reported{task, 1, {"host1", static_cast<std::uint16_t>(40'000 + task.index)}});
    }
    ASSERT_TRUE(writer_->append(GenerationRecord{gang_.cluster_spec()}).ok());
    for (const job::TaskId& task : {kReplayedFirst, kReplayedSecond}) step(gang::Started{task, 1});
  }
  base::Result<Replayed> replayed() {
    const auto journal = read_journal(folder_.path());
    if (!journal.ok()) return journal.error();
    return replay(*journal, {}, now_, wall());
  }
  [[nodiscard]] base::WallTime wall() const {
    return base::WallTime(std::chrono::duration_cast<base::WallTime::duration>(
        now_.time_since_epoch() + std::chrono::hours(24 * 365 * 50) + wall_shift_));
  }
  job::ExitReport failure() {
    job::ExitReport report;
    report.why = {.reason = job::Reason::kExitStatus, .code = 3};
    return report;
  }

  TestFolder folder_;
  std::unique_ptr<Writer> writer_;
  gang::Gang gang_{sample_spec(), {}};
  base::Instant now_{base::Duration(7'000'111'222'333)};
  base::Duration wall_shift_{0};
};

TEST_F(ReplayTest, IsTheGangThatTheMasterHad) {
  begin_segment(1);
  run_all();
  now_ += seconds(41);
  const auto found = replayed();
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_TRUE(found->gang == gang_);
  EXPECT_EQ(found->job_id, "wine-1");
  EXPECT_EQ(found->spec, sample_spec());
  EXPECT_EQ(found->generation, 1);
  EXPECT_EQ(found->last_segment, 1);
  EXPECT_EQ(base::to_iso8601(found->submitted),
            base::to_iso8601(wall() - seconds(41) - base::Duration(5 * 1'234'567)));
  EXPECT_FALSE(found->finish);
  EXPECT_FALSE(found->verdict);
  ASSERT_TRUE(found->all_started);
  EXPECT_EQ(*found->all_started, now_ - seconds(41));
}

// A restart much later is no start of the job.
TEST_F(ReplayTest, KnowsWhenAllRanForTheFirstTime) {
  begin_segment(1);
  run_all();
  const base::Instant all_started = now_;
  now_ += seconds(41);
  step(job::Exited{kReplayedFirst, 1, failure(), now_});
  now_ += seconds(1);
  EXPECT_EQ(replayed()->all_started, all_started);
}

TEST_F(ReplayTest, GoesOnThroughThePartsOfSeveralMasters) {
  begin_segment(1);
  run_all();
  for (int attempt = 2; attempt < 5; ++attempt) {
    now_ += seconds(3);
    const auto found = replayed();
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_TRUE(found->gang == gang_) << attempt;
    EXPECT_EQ(found->last_segment, attempt - 1);
    gang_ = found->gang;
    begin_segment(attempt);
    step(gang::Resumed{});
    step(gang::Reattached{kReplayedFirst, 1});
  }
  EXPECT_TRUE(replayed()->gang == gang_);
}

// The next master calls the agents back at their places, whichever segment tells of them.
TEST_F(ReplayTest, KnowsThePlaceOfEachAttempt) {
  begin_segment(1);
  ASSERT_TRUE(writer_->append(PlaceRecord{kReplayedFirst, 1, {{"pid", 11}}}).ok());
  ASSERT_TRUE(writer_->append(PlaceRecord{kReplayedSecond, 1, {{"pid", 12}}}).ok());
  run_all();
  ASSERT_TRUE(writer_->append(StatusRecord{sample_status(job::JobState::kFailed)}).ok());
  begin_segment(2);
  ASSERT_TRUE(writer_->append(PlaceRecord{kReplayedFirst, 2, {{"pid", 13}}}).ok());
  ASSERT_TRUE(writer_->append(PlaceRecord{kReplayedSecond, 1, {{"pid", 14}}}).ok());
  const auto found = replayed();
  ASSERT_TRUE(found.ok()) << found.error().message;
  const decltype(found->places) expected = {{{kReplayedFirst, 1}, {{"pid", 11}}},
                                            {{kReplayedFirst, 2}, {{"pid", 13}}},
                                            {{kReplayedSecond, 1}, {{"pid", 14}}}};
  EXPECT_EQ(found->places, expected);
  EXPECT_TRUE(found->gang == gang_);
  EXPECT_FALSE(found->verdict) << "a status is not a verdict";
}

TEST_F(ReplayTest, TellsTheEndThatNobodyRecorded) {
  begin_segment(1);
  run_all();
  step(job::Exited{kReplayedFirst, 1, failure(), now_});
  for (const job::TaskId& task : {kReplayedFirst, kReplayedSecond}) {
    step(job::AgentEnded{
        task,
        1,
        {.reason = job::Reason::kAgentEnded, .detail = "lost its agent, which ended"},
        now_});
  }
  const auto found = replayed();
  ASSERT_TRUE(found.ok() && found->finish);
  EXPECT_EQ(found->finish->state, job::JobState::kFailed);
  EXPECT_EQ(to_words(*found->finish->cause), "worker:0 on host1 exited with status 3");
  EXPECT_FALSE(found->verdict);
  ASSERT_TRUE(writer_->append(VerdictRecord{sample_status(job::JobState::kFailed)}).ok());
  EXPECT_EQ(replayed()->verdict, sample_status(job::JobState::kFailed));
}

// A clock that is set while a job runs must not bring its time limits into disorder.
TEST_F(ReplayTest, WallClockThatWasSetMovesNothingBehindNow) {
  for (const auto shift : {seconds(-3600), seconds(3600)}) {
    begin_segment(1);
    run_all();
    wall_shift_ = shift;
    now_ += seconds(1);
    const auto found = replayed();
    ASSERT_TRUE(found.ok());
    gang::Gang gang = found->gang;
    for (const gang::Task& task : gang.tasks()) EXPECT_EQ(task.phase, gang::Phase::kRunning);
    gang.step(gang::Resumed{}, now_);
    EXPECT_EQ(gang.next_deadline(), now_ + gang::Gang::Limits{}.silence);
    wall_shift_ = seconds(0);
    writer_.reset();
    std::filesystem::remove(folder_.path() + "/000001.jsonl");
    gang_ = gang::Gang(sample_spec(), {});
  }
}

TEST_F(ReplayTest, SegmentsWithoutAHeaderHoldNothing) {
  begin_segment(1);
  run_all();
  write_content(folder_.path() + "/000002.jsonl", "{\"n\":0,\"ki");
  const auto found = replayed();
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->gang == gang_);
  EXPECT_EQ(found->last_segment, 2);
}

// Later news of an agent is written as another place.
TEST_F(ReplayTest, TheLastPlaceOfAnAgentCounts) {
  begin_segment(1);
  ASSERT_TRUE(writer_->append(PlaceRecord{kReplayedFirst, 1, {{"container", 7}}}).ok());
  ASSERT_TRUE(writer_->append(PlaceRecord{kReplayedSecond, 1, {{"container", 8}}}).ok());
  run_all();
  ASSERT_TRUE(
      writer_->append(PlaceRecord{kReplayedFirst, 1, {{"container", 7}, {"control", 1}}}).ok());
  begin_segment(2);
  ASSERT_TRUE(writer_->append(PlaceRecord{kReplayedFirst, 2, {{"container", 9}}}).ok());
  ASSERT_TRUE(
      writer_->append(PlaceRecord{kReplayedSecond, 1, {{"container", 8}, {"control", 2}}}).ok());
  const auto found = replayed();
  ASSERT_TRUE(found.ok());
  const std::map<std::pair<job::TaskId, int>, base::Json> places{
      {{kReplayedFirst, 1}, {{"container", 7}, {"control", 1}}},
      {{kReplayedFirst, 2}, {{"container", 9}}},
      {{kReplayedSecond, 1}, {{"container", 8}, {"control", 2}}}};
  EXPECT_EQ(found->places, places);
}

TEST_F(ReplayTest, WithoutASpecThereIsNoJob) {
  write_content(folder_.path() + "/000001.jsonl", "");
  EXPECT_EQ(replayed().error().code, base::Code::kNotFound);
}

TEST_F(ReplayTest, ContradictionsAreTold) {
  begin_segment(1);
  begin_segment(2);
  job::JobSpec other = sample_spec();
  other.name = "beer";
  ASSERT_TRUE(writer_->append(SpecRecord{other}).ok());
  EXPECT_EQ(replayed().error().code, base::Code::kDataLoss);
}

TEST_F(ReplayTest, StartThatIsNoTimeIsTold) {
  Journal journal;
  journal.segments.push_back(
      {1, Header{"wine-1", "0.1.0", 1, "yesterday"}, {SpecRecord{sample_spec()}}, false});
  const auto found = replay(journal, {}, now_, wall());
  EXPECT_THAT(found.error().message, ::testing::HasSubstr("yesterday"));
}

}  // namespace
}  // namespace gangrun::journal
