#include "client/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::client {
namespace {

job::TaskStatus task(const std::string& type, int index, job::TaskState state) {
  job::TaskStatus status;
  status.task = {type, index};
  status.state = state;
  return status;
}

job::JobStatus running_job() {
  job::JobStatus status;
  status.id = "wine-20260131-120000-3fa1";
  status.name = "wine";
  status.state = job::JobState::kRunning;
  status.generation = 1;
  status.elapsed_ms = 12'300;
  status.tasks = {
      task("chief", 0, job::TaskState::kRunning), task("worker", 0, job::TaskState::kRunning),
      task("worker", 1, job::TaskState::kFailed), task("ps", 0, job::TaskState::kStarting)};
  status.tasks[0].address = "127.0.0.1:41001";
  status.tasks[0].pid = 4711;
  status.tasks[0].memory_bytes = std::int64_t{512} << 20;
  status.tasks[0].last_line = "\x1b[32mstep 400\x1b[0m: loss 0.25";
  status.tasks[2].exit = job::Why{.reason = job::Reason::kExitStatus, .code = 3};
  status.tasks[2].last_line = "not shown beside an end";
  status.tasks[2].attempt = 2;
  return status;
}

std::string text_of(const Lines& lines) {
  std::string text;
  for (const Line& line : lines) text += line.text() + "\n";
  return text;
}

TEST(Render, ShowsEveryTaskOfASmallJob) {
  EXPECT_EQ(text_of(render(running_job(), 100, 20, "")),
            R"(wine-20260131-120000-3fa1  running  12 s
TASK      STATE           ADDRESS           PID   MEMORY  LAST LINE
chief:0   running         127.0.0.1:41001  4711  512 MiB  step 400: loss 0.25
worker:0  running         -                   -        -  
worker:1  failed (run 2)  -                   -        -  exited with status 3
ps:0      starting        -                   -        -  
)");
}

// "running (run 2) … was killed by signal 15" was shown until the new run had written a line.
TEST(Render, HowARunEndedIsNotShownWithTheNextOne) {
  job::JobStatus status = running_job();
  status.tasks.resize(3);
  status.tasks[2].state = job::TaskState::kRunning;
  status.tasks[2].last_line = "";
  EXPECT_THAT(text_of(render_tasks(status, 100)), testing::Not(testing::HasSubstr("exited")));
}

TEST(Render, ShowsHowFarTheGangHasCome) {
  job::JobStatus status = running_job();
  status.state = job::JobState::kRollCall;
  status.tasks.resize(2);
  status.tasks[0] = task("chief", 0, job::TaskState::kRegistered);
  status.tasks[1] = task("worker", 0, job::TaskState::kAllocated);
  status.waiting_for = "the report of worker:0 (1 of 2 tasks have reported); limit in 1 min";
  const std::string text = text_of(render(status, 100, 20, "press Ctrl-C again"));
  EXPECT_EQ(text, R"(wine-20260131-120000-3fa1  roll call  12 s
roll call  ##########.......... 1 of 2
waiting for the report of worker:0 (1 of 2 tasks have reported); limit in 1 min
TASK      STATE       ADDRESS  PID  MEMORY  LAST LINE
chief:0   registered  -          -       -  
worker:0  allocated   -          -       -  
press Ctrl-C again
)");
  status.state = job::JobState::kAllocating;
  status.tasks[1] = task("worker", 0, job::TaskState::kWaiting);
  EXPECT_EQ(render(status, 100, 20, "")[1].text(), "allocation ##########.......... 1 of 2");
}

TEST(Render, CountsTasksThatDoNotFit) {
  job::JobStatus status = running_job();
  for (int i = 2; i < 4000; ++i) {
    status.tasks.push_back(task("worker", i, job::TaskState::kRunning));
  }
  EXPECT_EQ(text_of(render(status, 100, 24, "")), R"(wine-20260131-120000-3fa1  running  12 s
chief (1)              512 MiB  1 running
worker (4000)                -  1 failed, 3999 running
ps (1)                       -  1 starting
)");
  EXPECT_EQ(text_of(render(status, 100, 3, "")), R"(wine-20260131-120000-3fa1  running  12 s
4002 tasks of 3 types: 1 failed, 4000 running, 1 starting
)");
}

TEST(Render, FitsIntoAnyTerminal) {
  job::JobStatus status = running_job();
  status.waiting_for = "something with a rather long name";
  status.tasks[1].last_line = std::string(500, 'x') + "東京";
  for (std::size_t width = 0; width < 130; ++width) {
    for (const std::size_t height : {0U, 1U, 2U, 3U, 4U, 5U, 11U}) {
      for (const char* notice : {"", "stopping; Ctrl-C again ends it at once"}) {
        const Lines lines = render(status, width, height, notice);
        EXPECT_LE(lines.size(), height);
        for (const Line& line : lines) EXPECT_LE(line.width(), width);
        if (height > 0 && *notice != '\0' && width > 60) {
          EXPECT_EQ(lines.back().text(), notice);
        }
      }
    }
  }
}

TEST(Render, ShowsRestartsAndGenerations) {
  job::JobStatus status = running_job();
  status.generation = 3;
  status.restarts_used = 1;
  status.restarts_max = 3;
  EXPECT_EQ(render_header(status)[0].text(),
            "wine-20260131-120000-3fa1  running  12 s  generation 3  1 of 3 restarts used");
}

TEST(Render, NothingFromATaskReachesTheTerminalAsItIs) {
  job::JobStatus status = running_job();
  status.tasks[0].last_line = "\x1b[2J\x1b]0;x\a\x07";
  status.tasks[1].exit = job::Why{.reason = job::Reason::kCouldNotStart, .detail = "\x1b[31m"};
  status.waiting_for = "\x1b[5m";
  for (const Line& line : render(status, 200, 40, "")) {
    for (const char c : line.text()) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  }
}

// The first command that people try prints a line from each task.
TEST(Render, TheNewestLinesStandBelowTheTasks) {
  const Lines said = {Line("a"), Line("b"), Line("c"), Line("d")};
  const auto rows = [&](std::size_t height) {
    std::vector<std::string> texts;
    for (const Line& line : render(running_job(), 100, height, "", said)) {
      texts.push_back(line.text());
    }
    return texts;
  };
  const std::size_t all = render(running_job(), 100, 50, "").size();
  EXPECT_EQ(rows(50).size(), all + 4);
  EXPECT_EQ(rows(50).back(), "d");
  EXPECT_EQ(rows(all + 3).size(), all + 3);
  EXPECT_EQ(rows(all + 3)[all], "b") << "the oldest go first";
  // If there is no room for both, tasks are counted.
  const std::vector<std::string> few = rows(all + 2);
  EXPECT_EQ(few.back(), "d");
  EXPECT_THAT(few, testing::Contains(testing::HasSubstr("running")));
  EXPECT_THAT(few, testing::Not(testing::Contains(testing::HasSubstr("ADDRESS"))));
  EXPECT_THAT(few, testing::IsSupersetOf({"b", "c", "d"}));
}

}  // namespace
}  // namespace gangrun::client
