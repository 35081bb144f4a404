#include "master/past.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "journal/writer.h"

namespace gangrun::master {
namespace {

class PastTest : public ::testing::Test {
 protected:
  base::Result<Past> past() { return past_of(folder_.path(), std::chrono::seconds(60), clock_); }
  std::unique_ptr<journal::Writer> segment(int number) {
    const journal::Opening opening{.job_id = "wine-1",
                                   .attempt = number,
                                   .started = clock_.wall_now(),
                                   .origin = clock_.now()};
    return journal::Writer::create(folder_.path(), opening).value();
  }

  const base::SystemClock clock_{};
  const base::TestFolder folder_;
};

TEST_F(PastTest, WithoutAJournalThereIsNone) {
  const auto none = past();
  ASSERT_TRUE(none.ok()) << none.error().message;
  EXPECT_EQ(none->segments, 0);
  EXPECT_FALSE(none->replayed.has_value());
}

TEST_F(PastTest, AMasterThatRecordedNoSpecLeavesOnlyItsNumber) {
  (void)segment(1);
  const auto left = past();
  ASSERT_TRUE(left.ok()) << left.error().message;
  EXPECT_EQ(left->segments, 1);
  EXPECT_FALSE(left->replayed.has_value());
}

TEST_F(PastTest, WhatWasRecordedIsReplayed) {
  job::JobSpec spec;
  spec.name = "wine";
  job::TaskSpec worker;
  worker.type = "worker";
  worker.command.shell_line = "true";
  spec.tasks.push_back(worker);
  spec.success = "all";
  const auto writer = segment(1);
  ASSERT_TRUE(writer->append(journal::SpecRecord{spec}).ok());
  ASSERT_TRUE(writer->event(gang::Begin{}, clock_.now()).ok());
  const auto left = past();
  ASSERT_TRUE(left.ok()) << left.error().message;
  ASSERT_TRUE(left->replayed.has_value());
  EXPECT_EQ(left->replayed->spec, spec);
  EXPECT_EQ(left->replayed->gang.tasks().size(), 1U);
}

}  // namespace
}  // namespace gangrun::master
