#include "client/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"

namespace gangrun::client {
namespace {

std::string lines_text(const Lines& lines) {
  std::string text;
  for (const Line& line : lines) text += line.text() + "\n";
  return text;
}

job::JobStatus ended(job::JobState state) {
  job::JobStatus status;
  status.id = "wine-20260131-120000-3fa1";
  status.state = state;
  status.elapsed_ms = 41'000;
  status.all_started_ms = 380;
  status.folder = "/home/ana/.gangrun/jobs/wine-20260131-120000-3fa1";
  status.tasks.resize(6);
  return status;
}

bool is_here(const std::string&) { return true; }

TEST(LostOutputs, AreToldOfAFewTasksAndCountedOfTheOthers) {
  job::JobStatus status;
  EXPECT_TRUE(lost_outputs(status).empty());
  for (int index = 0; index < 20; ++index) {
    job::TaskStatus task;
    task.task = {"worker", index};
    if (index != 1) task.lost_outputs = "over outputs_limit (1 MiB): model\x1b[2J";
    status.tasks.push_back(std::move(task));
  }
  const auto sentences = lost_outputs(status);
  EXPECT_EQ(sentences.front().find('\x1b'), std::string::npos);
  EXPECT_TRUE(sentences.front().starts_with(
      "outputs of worker:0 were not all kept: over outputs_limit (1 MiB): model"));
  EXPECT_TRUE(sentences[1].starts_with("outputs of worker:2 "));
  EXPECT_EQ(sentences.back(), base::format("outputs of {} more tasks were not all kept, either",
                                           20 - sentences.size()));
}

TEST(NoSuchTask, IsToldWithTheTasksThatThereAre) {
  job::JobStatus status;
  status.id = "wine-1";
  for (int index = 0; index < 10; ++index) status.tasks.emplace_back().task = {"worker", index};
  EXPECT_EQ(no_such_task(status, "ps:0").message,
            "wine-1 has no task ps:0; it has worker:0, worker:1, worker:2, worker:3, worker:4, "
            "worker:5, worker:6, worker:7, worker:8, worker:9");
  EXPECT_EQ(no_such_task(status, "ps:0").code, base::Code::kNotFound);
  status.tasks.emplace_back().task = {"worker", 10};
  EXPECT_TRUE(first_tasks(status).ends_with(", worker:9, …"));
}

TEST(CheckTasks, TheFirstThatIsNotThereIsAnError) {
  job::JobStatus status;
  status.id = "wine-1";
  EXPECT_TRUE(check_tasks(status, {{"worker", 9}}).ok()) << "its tasks are not known";
  status.tasks.resize(2);
  status.tasks[0].task = {"worker", 0};
  status.tasks[1].task = {"worker", 1};
  EXPECT_TRUE(check_tasks(status, {}).ok());
  EXPECT_TRUE(check_tasks(status, {{"worker", 1}, {"worker", 0}}).ok());
  const auto checked = check_tasks(status, {{"worker", 1}, {"worker", 9}, {"ps", 0}});
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().message, "wine-1 has no task worker:9; it has worker:0, worker:1");
  EXPECT_EQ(checked.error().code, base::Code::kNotFound);
}

TEST(EndReport, OfASuccessIsShort) {
  EXPECT_EQ(lines_text(end_report(ended(job::JobState::kSucceeded), is_here)),
            R"(wine-20260131-120000-3fa1 succeeded after 41 s
started: 6 tasks in 380 ms from the command
logs: /home/ana/.gangrun/jobs/wine-20260131-120000-3fa1/logs
next: gangrun logs wine-20260131-120000-3fa1
)");
}

// "logs: /user/ana/.gangrun/jobs/application_1_0001/logs" was said of each job on YARN.
TEST(EndReport, OfLogsThatAreElsewhereSaysOnlyHowToReadThem) {
  job::JobStatus status = ended(job::JobState::kSucceeded);
  status.id = "application_1_0001";
  status.folder = "/user/ana/.gangrun/jobs/application_1_0001";
  EXPECT_EQ(lines_text(end_report(status)), R"(application_1_0001 succeeded after 41 s
started: 6 tasks in 380 ms from the command
next: gangrun logs application_1_0001
)");
}

TEST(EndReport, OfAFailureSaysWhyAndWhatNext) {
  job::JobStatus status = ended(job::JobState::kFailed);
  status.restarts_used = 1;
  status.restarts_max = 3;
  status.cause =
      job::Cause{.task = job::TaskId{"worker", 1},
                 .host = "host7",
                 .why = {.reason = job::Reason::kExitStatus, .code = 1},
                 .last_lines = {"Traceback (most recent call last):", "  File \"x.py\", line 1",
                                "ValueError: \x1b[31mno"},
                 .traceback =
                     "Traceback (most recent call last):\n  File \"x.py\", line 1\n"
                     "ValueError: \x1b[31mno\n"};
  EXPECT_EQ(lines_text(end_report(status, is_here)), R"(wine-20260131-120000-3fa1 failed after 41 s
worker:1 on host7 exited with status 1
its last lines on standard error:
  | Traceback (most recent call last):
  |   File "x.py", line 1
  | ValueError: no
restarts: 1 of 3 used
started: 6 tasks in 380 ms from the command
logs: /home/ana/.gangrun/jobs/wine-20260131-120000-3fa1/logs
next: gangrun logs wine-20260131-120000-3fa1 worker:1
)");
}

TEST(EndReport, ShowsATracebackThatTheLastLinesDoNotHave) {
  job::Cause cause;
  cause.task = job::TaskId{"worker", 1};
  cause.why = {.reason = job::Reason::kExitStatus, .code = 1};
  cause.last_lines = {"bye\tbye"};
  cause.traceback = "Traceback (most recent call last):\nValueError: no";
  EXPECT_EQ(lines_text(evidence_lines(cause)), R"(its last lines on standard error:
  | bye	bye
its last traceback:
  | Traceback (most recent call last):
  | ValueError: no
)");
}

// A traceback was shown twice in a pipe: as the task's lines, and again at the end.
TEST(EndReport, OfLinesThatStandAboveTellsTheLast) {
  job::Cause cause;
  cause.task = job::TaskId{"worker", 1};
  cause.last_lines = {"loading", "no data", ""};
  EXPECT_EQ(lines_text(evidence_lines(cause, Evidence::kLastLine)),
            "its last line on standard error, after those above:\n  | no data\n");
  cause.has_both_streams = true;
  EXPECT_EQ(lines_text(evidence_lines(cause, Evidence::kLastLine)),
            "its last line, after those above:\n  | no data\n");
  cause.traceback = "Traceback (most recent call last):\nValueError: no\n";
  EXPECT_EQ(lines_text(evidence_lines(cause, Evidence::kLastLine)),
            "its last traceback, which stands above, ends with:\n  | ValueError: no\n");
  EXPECT_THAT(lines_of(cause),
              testing::ElementsAre("loading", "no data", "",
                                   "Traceback (most recent call last):", "ValueError: no"));
  cause.traceback.clear();
  cause.last_lines = {"no data"};
  EXPECT_EQ(lines_text(evidence_lines(cause, Evidence::kLastLine)),
            "its last lines:\n  | no data\n");
}

// In a pod both streams are one: standard output was listed as standard error.
TEST(EndReport, SaysNothingOfAStreamThatIsNotKnown) {
  job::Cause cause;
  cause.task = job::TaskId{"worker", 1};
  cause.why = {.reason = job::Reason::kExitStatus, .code = 1};
  cause.last_lines = {"epoch 1"};
  cause.has_both_streams = true;
  EXPECT_EQ(lines_text(evidence_lines(cause)), R"(its last lines:
  | epoch 1
)");
}

TEST(EndReport, OfAJobThatNeverStartedSaysNothingOfItsStart) {
  job::JobStatus status = ended(job::JobState::kKilled);
  status.all_started_ms = -1;
  status.cause = job::Cause{.why = {.reason = job::Reason::kStopped, .detail = "Ctrl-C"}};
  EXPECT_EQ(lines_text(end_report(status, is_here)),
            R"(wine-20260131-120000-3fa1 was stopped after 41 s
stopped by Ctrl-C
logs: /home/ana/.gangrun/jobs/wine-20260131-120000-3fa1/logs
next: gangrun logs wine-20260131-120000-3fa1
)");
}

}  // namespace
}  // namespace gangrun::client
