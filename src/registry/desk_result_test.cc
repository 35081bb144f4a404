// What the desk does with the figures and the result of a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "job/test_tasks.h"
#include "registry/desk.h"
#include "registry/starts.h"
#include "registry/test_registry.h"

namespace gangrun::registry {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

// A worker that runs attempt 1 in generation 1.
class DeskResultTest : public testing::Test {
 protected:
  void SetUp() override {
    desk.expect(job::kWorker0, 1);
    desk.on_opened(1, now);
    frame(ReportMessage{job::kWorker0, 1, {"h", 1}, 9, AgentState::kWaiting, 0, 0, 0, {}});
    Starts starts({1, {}});
    desk.send_start(job::kWorker0, 1, 0, starts);
    frame(StartedMessage{1, 1, 5});
    out.events.clear();
    out.sent.clear();
  }

  void frame(const AgentMessage& message) { desk.on_frame(1, encode(message), now); }

  base::Instant now = base::Instant(std::chrono::seconds(1000));
  Recorder out;
  LogRecorder log;
  Desk desk{DeskOptions{milliseconds(1000), milliseconds(60'000)}, out, log};
};

TEST_F(DeskResultTest, BothArePassedOnAndAPartIsAnswered) {
  const job::Figures figures = {{"step", job::Figure(std::int64_t{1})}};
  frame(FiguresMessage{1, 1, figures});
  frame(ResultMessage{1, 1, 0, 1, "r"});
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(FiguresTold{job::kWorker0, 1, figures}),
                                      DeskEvent(ResultPart{job::kWorker0, 1, 0, 1, "r"})));
  desk.send_result_kept(job::kWorker0, {1, 1, ""});
  EXPECT_THAT(out.sent, ElementsAre(Pair(1, MasterMessage(ResultKeptMessage{1, 1, ""}))));
}

TEST_F(DeskResultTest, OfAnotherRunNothingCounts) {
  frame(ResultMessage{2, 1, 0, 1, "r"});
  frame(ResultMessage{1, 2, 0, 1, "r"});
  EXPECT_THAT(out.events, IsEmpty());
  EXPECT_EQ(log.lines.size(), 2U);
}

TEST_F(DeskResultTest, AfterItsEndARunHasNoResultAnyMore) {
  frame(ExitedMessage{1, 1, {}});
  out.events.clear();
  frame(ResultMessage{1, 1, 0, 1, "r"});
  EXPECT_THAT(out.events, IsEmpty());
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("result without a run")));
}

TEST_F(DeskResultTest, WhoHasGoneIsNotAnswered) {
  frame(ResultMessage{1, 1, 0, 1, "r"});
  desk.on_closed(1);
  desk.send_result_kept(job::kWorker0, {1, 1, ""});
  EXPECT_THAT(out.sent, IsEmpty());
}

}  // namespace
}  // namespace gangrun::registry
