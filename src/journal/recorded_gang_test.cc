#include "journal/recorded_gang.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "journal/reader.h"
#include "journal/replay.h"
#include "journal/sample_records.h"

namespace gangrun::journal {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

// A disk that may be full.
struct Disk {
  std::string content;
  bool full = false;
};

class DiskFile final : public File {
 public:
  explicit DiskFile(Disk& disk) : disk_(disk) {}
  base::Result<std::size_t> append(std::string_view bytes) override {
    if (disk_.full) return base::Error{base::Code::kResourceExhausted, "the disk is full"};
    disk_.content += bytes;
    return bytes.size();
  }
  base::Result<> truncate(std::int64_t bytes) override {
    disk_.content.resize(static_cast<std::size_t>(bytes));
    return {};
  }
  base::Result<> sync() override { return {}; }

 private:
  Disk& disk_;
};

const job::TaskId kFirst{"worker", 0};
const job::TaskId kSecond{"worker", 1};

class RecordedGangTest : public testing::Test {
 protected:
  explicit RecordedGangTest(bool can_be_followed = true) {
    Opening opening;
    opening.job_id = "wine-1";
    opening.origin = now_;
    writer_ = *Writer::create_on(std::make_unique<DiskFile>(disk_), "1.jsonl", opening);
    EXPECT_TRUE(writer_->append(SpecRecord{sample_spec()}).ok());
    recorded_ =
        std::make_unique<RecordedGang>(gang::Gang(sample_spec(), {}), *writer_, can_be_followed);
  }
  // How many events were handled; their decisions are in decided_.
  int add(gang::Event event, std::optional<PlaceRecord> place = {}) {
    recorded_->add(std::move(event), std::move(place));
    decided_.clear();
    int count = 0;
    while (auto handled = recorded_->next(now_)) {
      ++count;
      for (auto& decision : handled->decisions) decided_.push_back(std::move(decision));
    }
    return count;
  }
  int pass(base::Duration time) {
    now_ += time;
    return add(gang::TimePassed{});
  }
  [[nodiscard]] gang::Gang replayed() const {
    auto found = replay(*parse_journal({disk_.content}), {}, now_, {});
    EXPECT_TRUE(found.ok());
    return found->gang;
  }
  template <typename T>
  [[nodiscard]] bool decided() const {
    return std::any_of(decided_.begin(), decided_.end(),
                       [](const gang::Decision& d) { return std::holds_alternative<T>(d); });
  }
  void allocate_all() {
    add(gang::Begin{});
    for (const auto& task : {kFirst, kSecond}) add(gang::Allocated{task, 1, "host"});
  }

  base::Instant now_{seconds(1000)};
  Disk disk_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<RecordedGang> recorded_;
  std::vector<gang::Decision> decided_;
};

TEST_F(RecordedGangTest, WaitsForRoomAndGoesOnInOrder) {
  allocate_all();
  disk_.full = true;
  EXPECT_EQ(add(gang::Reported{kFirst, 1, {"host", 1}}), 0);
  EXPECT_EQ(add(gang::Reported{kSecond, 1, {"host", 2}}), 0);
  EXPECT_TRUE(recorded_->is_behind());
  EXPECT_THAT(recorded_->waiting_for(now_), HasSubstr("room for the journal: the disk is full"));
  EXPECT_EQ(recorded_->next_deadline(), now_ + kRoomRetry);
  EXPECT_EQ(pass(kRoomRetry), 0);
  disk_.full = false;
  EXPECT_EQ(pass(kRoomRetry), 2);
  EXPECT_TRUE(decided<gang::Publish>());
  EXPECT_FALSE(recorded_->is_behind());
  EXPECT_FALSE(recorded_->is_incomplete());
  EXPECT_EQ(recorded_->gang().cluster_spec(), replayed().cluster_spec());
}

TEST_F(RecordedGangTest, APlaceIsRecordedOnceAndBeforeItsEvent) {
  add(gang::Begin{});
  disk_.full = true;
  add(gang::Allocated{kFirst, 1, "host"}, PlaceRecord{kFirst, 1, {{"pid", 7}}});
  disk_.full = false;
  EXPECT_EQ(pass(kRoomRetry), 1);
  const auto journal = parse_journal({disk_.content});
  ASSERT_TRUE(journal.ok());
  const auto& records = journal->segments.front().records;
  ASSERT_EQ(records.size(), 4U);
  EXPECT_TRUE(std::holds_alternative<PlaceRecord>(records[2]));
  EXPECT_TRUE(std::holds_alternative<EventRecord>(records[3]));
}

// A deadline that could not be recorded is no reason to forget what came after it in time.
TEST_F(RecordedGangTest, WhatWasHeardWhileItWaitedComesBeforeTheTime) {
  allocate_all();
  disk_.full = true;
  now_ = *recorded_->gang().next_deadline();
  EXPECT_EQ(add(gang::TimePassed{}), 0);
  EXPECT_EQ(add(gang::Reported{kFirst, 1, {"host", 1}}), 0);
  EXPECT_EQ(add(gang::Reported{kSecond, 1, {"host", 2}}), 0);
  disk_.full = false;
  EXPECT_EQ(pass(kRoomRetry), 2);
  EXPECT_EQ(recorded_->gang().state(), job::JobState::kRunning);
}

TEST_F(RecordedGangTest, GivesOutNothingThatIsNotRecorded) {
  allocate_all();
  add(gang::Reported{kFirst, 1, {"host", 1}});
  disk_.full = true;
  EXPECT_EQ(add(gang::Reported{kSecond, 1, {"host", 2}}), 0);
  EXPECT_GT(pass(kRoomTimeout), 0);
  EXPECT_TRUE(recorded_->is_incomplete());
  EXPECT_FALSE(decided<gang::Publish>());
  EXPECT_TRUE(decided<gang::End>());
  EXPECT_EQ(recorded_->gang().state(), job::JobState::kStopping);
  disk_.full = false;
  for (const auto& task : {kFirst, kSecond})
    add(job::AgentEnded{task, 1, {.reason = job::Reason::kAgentEnded, .detail = "ended"}, now_});
  ASSERT_TRUE(decided<gang::Finish>());
  const auto cause = std::get<gang::Finish>(decided_.back()).cause;
  ASSERT_TRUE(cause);
  EXPECT_THAT(to_words(*cause),
              HasSubstr("the journal can no longer be written: the disk is full"));
}

TEST_F(RecordedGangTest, ATrainingThatEndsWellIsNotFailedByItsDisk) {
  allocate_all();
  for (const int i : {0, 1}) {
    add(gang::Reported{{"worker", i}, 1, {"host", static_cast<std::uint16_t>(i + 1)}});
  }
  for (const auto& task : {kFirst, kSecond}) add(gang::Started{task, 1});
  disk_.full = true;
  job::ExitReport report;
  report.success = true;
  for (const auto& task : {kFirst, kSecond}) add(job::Exited{task, 1, report, now_});
  EXPECT_EQ(recorded_->gang().state(), job::JobState::kRunning);
  pass(kRoomTimeout);
  for (const auto& task : {kFirst, kSecond})
    add(job::AgentEnded{task, 1, {.reason = job::Reason::kAgentEnded, .detail = "ended"}, now_});
  EXPECT_EQ(recorded_->gang().state(), job::JobState::kSucceeded);
  EXPECT_TRUE(recorded_->verdict(sample_status(job::JobState::kSucceeded), now_));
}

TEST_F(RecordedGangTest, WhoAsksForTheEndDoesNotWait) {
  allocate_all();
  disk_.full = true;
  EXPECT_EQ(add(gang::Reported{kFirst, 1, {"host", 1}}), 0);
  EXPECT_EQ(add(gang::StopRequested{"Ctrl-C", false}), 2);
  EXPECT_TRUE(decided<gang::End>());
  EXPECT_EQ(recorded_->gang().state(), job::JobState::kStopping);
}

TEST_F(RecordedGangTest, AVerdictWaitsForRoomToo) {
  add(gang::StopRequested{"Ctrl-C", false});
  ASSERT_TRUE(recorded_->gang().finished());
  disk_.full = true;
  const job::JobStatus status = sample_status(job::JobState::kKilled);
  EXPECT_FALSE(recorded_->verdict(status, now_));
  // Late news change nothing about it.
  EXPECT_EQ(add(gang::SessionLost{kFirst, 1}), 0);
  ASSERT_EQ(recorded_->next_deadline(), now_ + kRoomRetry);
  EXPECT_FALSE(recorded_->verdict(status, now_));
  now_ += kRoomRetry;
  disk_.full = false;
  EXPECT_TRUE(recorded_->verdict(status, now_));
  EXPECT_THAT(disk_.content, HasSubstr(R"("kind":"verdict")"));
}

class UnfollowedGangTest : public RecordedGangTest {
 protected:
  UnfollowedGangTest() : RecordedGangTest(false) {}
};

// Losing training for a record that nobody will go on from would be the wrong way round.
TEST_F(UnfollowedGangTest, DoesNotWait) {
  disk_.full = true;
  EXPECT_EQ(add(gang::Begin{}), 1);
  EXPECT_TRUE(decided<gang::Allocate>());
  EXPECT_TRUE(recorded_->is_incomplete());
  EXPECT_FALSE(recorded_->is_behind());
}

}  // namespace
}  // namespace gangrun::journal
