#include "agents/coming_ends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::agents {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const job::TaskId kWorker{"worker", 1};
const job::TaskId kServer{"ps", 0};

job::AgentEnded evicted(const job::TaskId& task, int attempt) {
  return {task, attempt, {.reason = job::Reason::kEvicted}, base::Instant(base::seconds(100))};
}

job::ExitReport ended(job::Reason reason) {
  job::ExitReport report;
  report.why.reason = reason;
  return report;
}

TEST(ComingEnds, AreToldOnceBeforeAFailureThatTheyMayExplain) {
  ComingEnds ends;
  EXPECT_THAT(ends.before(ended(job::Reason::kExitStatus)), IsEmpty());
  ends.note(evicted(kWorker, 1));
  ends.note(evicted(kServer, 2));
  EXPECT_TRUE(ends.has(kWorker));
  EXPECT_FALSE(ends.is_told(kWorker, 1));
  EXPECT_THAT(ends.before(ended(job::Reason::kSignal)),
              ElementsAre(evicted(kServer, 2), evicted(kWorker, 1)));
  EXPECT_THAT(ends.before(ended(job::Reason::kExitStatus)), IsEmpty());
  EXPECT_FALSE(ends.has(kWorker));
  EXPECT_TRUE(ends.is_told(kWorker, 1));
  EXPECT_FALSE(ends.is_told(kWorker, 2));
  // Its place goes on to tell of it.
  ends.note(evicted(kWorker, 1));
  EXPECT_FALSE(ends.has(kWorker));
  ends.note(evicted(kWorker, 3));
  EXPECT_TRUE(ends.has(kWorker));
}

TEST(ComingEnds, ExplainNoSuccessNoOtherLossAndNothingThatIsATasksOwnAffair) {
  ComingEnds ends;
  ends.note(evicted(kWorker, 1));
  job::ExitReport success;
  success.success = true;
  EXPECT_THAT(ends.before(success), IsEmpty());
  EXPECT_THAT(ends.before(ended(job::Reason::kOutOfMemory)), IsEmpty());
  EXPECT_THAT(ends.before(ended(job::Reason::kLogLimit)), IsEmpty());
  EXPECT_THAT(ends.before(ended(job::Reason::kCouldNotStart)), IsEmpty());
  EXPECT_THAT(ends.before(ended(job::Reason::kPreempted)), IsEmpty());
  EXPECT_TRUE(ends.has(kWorker));
}

TEST(ComingEnds, OfWhatIsAskedToEndAreNotTold) {
  ComingEnds ends;
  ends.note(evicted(kWorker, 1));
  ends.forget(kWorker);
  EXPECT_THAT(ends.before(ended(job::Reason::kExitStatus)), IsEmpty());
  EXPECT_FALSE(ends.is_told(kWorker, 1));
}

}  // namespace
}  // namespace gangrun::agents
