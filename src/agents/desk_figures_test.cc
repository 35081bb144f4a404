// The desk and the figures of a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "agents/desk.h"
#include "agents/starts.h"
#include "agents/test_desk.h"
#include "job/test_tasks.h"
#include "wire/test_registry.h"

namespace gangrun::agents {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A worker that runs attempt 1 in generation 1.
class DeskFiguresTest : public testing::Test {
 protected:
  void SetUp() override {
    desk.expect(job::kWorker0, 1);
    desk.on_opened(1, now);
    frame(wire::ReportMessage{
        job::kWorker0, 1, {"h", 1}, 9, wire::AgentState::kWaiting, 0, 0, 0, {}});
    Starts starts({1, {}});
    desk.send_start(job::kWorker0, 1, 0, starts);
    frame(wire::StartedMessage{1, 1, 5});
    out.events.clear();
    out.sent.clear();
  }

  void frame(const wire::AgentMessage& message) { desk.on_frame(1, encode(message), now); }

  base::Instant now = base::Instant(std::chrono::seconds(1000));
  Recorder out;
  wire::LogRecorder log;
  Desk desk{DeskOptions{milliseconds(1000), milliseconds(60'000)}, out, log};
};

TEST_F(DeskFiguresTest, TheyArePassedOn) {
  const job::Figures figures = {{"step", job::Figure(std::int64_t{1})}};
  frame(wire::FiguresMessage{1, 1, figures});
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(FiguresTold{job::kWorker0, 1, figures})));
}

TEST_F(DeskFiguresTest, OfAnotherRunNothingCounts) {
  frame(wire::FiguresMessage{2, 1, {}});
  frame(wire::FiguresMessage{1, 2, {}});
  EXPECT_THAT(out.events, IsEmpty());
  EXPECT_EQ(log.lines.size(), 2U);
}

TEST_F(DeskFiguresTest, AfterItsEndARunHasNoneAnyMore) {
  frame(wire::ExitedMessage{1, 1, {}});
  out.events.clear();
  frame(wire::FiguresMessage{1, 1, {}});
  EXPECT_THAT(out.events, IsEmpty());
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("figures without a run")));
}

}  // namespace
}  // namespace gangrun::agents
