#include "job/status.h"

#include <gmock/gmock.h>

#include <limits>

#include "job/described.h"

namespace gangrun::job {
namespace {

JobStatus full_status() {
  JobStatus status;
  status.id = "job-1";
  status.name = "wine";
  status.state = JobState::kFailed;
  status.generation = 2;
  status.restarts_used = 1;
  status.restarts_max = 3;
  status.submitted = "2026-01-31T12:00:00.123Z";
  status.ended = "2026-01-31T12:00:41.123Z";
  status.elapsed_ms = 41'000;
  status.all_started_ms = 250;
  status.has_run = true;
  status.waiting_for = "the roll call of 2 tasks";
  status.folder = "/home/u/jobs/job-1";
  status.cause = Cause{.task = TaskId{"worker", 5},
                       .host = "host7",
                       .why = {.reason = Reason::kOutOfMemory, .signal = 9},
                       .last_lines = {"a", "b"},
                       .traceback = "Traceback"};
  TaskStatus task;
  task.task = {"worker", 5};
  task.policy = Policy::kObserver;
  task.state = TaskState::kFailed;
  task.attempt = 2;
  task.address = "host7:4711";
  task.address_reason = "of eth0";
  task.ports = {{"http", 4711}, {"", 4712}};
  task.pid = 1234;
  task.memory_bytes = std::int64_t{5} << 32U;
  task.cpu_seconds = 1.1;
  task.exit = Why{.reason = Reason::kExitStatus, .code = 3};
  task.last_line = "step 7: ü";
  task.log_path = "/logs/worker-5";
  task.incomplete_log = "7 lines could not be kept: No space left on device";
  task.lost_outputs = "over outputs_limit (1 MiB): model";
  status.tasks = {task, TaskStatus{}};
  status.tasks[1].task = {"ps", 0};
  return status;
}

TEST(JobStatus, RoundTripsWhole) {
  JobStatus bare;
  JobStatus without_task = full_status();
  without_task.cause->task.reset();
  JobStatus with_notes = full_status();
  with_notes.notes = {"ZooKeeper is away", "and so on"};
  for (const JobStatus& status : {full_status(), bare, without_task, with_notes}) {
    const auto json = base::parse_json(base::dump_json_indented(base::to_json(status)), 1 << 20);
    ASSERT_TRUE(json.ok());
    const auto back = base::from_json<JobStatus>(*json);
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, status);
  }
}

TEST(JobStatus, PathsAreBytesAndTextsAreNot) {
  JobStatus status = full_status();
  status.folder = "/h\xff/jobs/job-1";
  status.tasks[0].log_path = "/h\xff/logs/worker-5";
  status.tasks[0].last_line = "a\xff";
  const auto json = base::parse_json(base::dump_json(base::to_json(status)), 1 << 20);
  ASSERT_TRUE(json.ok());
  const auto back = base::from_json<JobStatus>(*json);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->folder, status.folder);
  EXPECT_EQ(back->tasks[0].log_path, status.tasks[0].log_path);
  EXPECT_EQ(back->tasks[0].last_line, "a\uFFFD");
  base::Json bad = base::to_json(status);
  bad["tasks"][0]["last_line"] = "a\xff";
  EXPECT_THAT(base::from_json<JobStatus>(bad).error().message, testing::HasSubstr("is not UTF-8"));
}

TEST(JobStatus, EveryMemberIsNeededButWhatSomeCannotKnow) {
  const base::Json good = base::to_json(full_status());
  for (const auto& [key, value] : good.items()) {
    base::Json bad = good;
    bad.erase(key);
    EXPECT_EQ(base::from_json<JobStatus>(bad).ok(), key == "cause" || key == "has_run") << key;
    bad[key] = base::Json::array({base::Json::array()});
    EXPECT_FALSE(base::from_json<JobStatus>(bad).ok()) << key;
  }
  const base::Json task = good["tasks"][0];
  for (const auto& [key, value] : task.items()) {
    base::Json bad = good;
    bad["tasks"][0].erase(key);
    const bool is_needed =
        !key.starts_with("exit") && key != "incomplete_log" && key != "lost_outputs";
    EXPECT_EQ(base::from_json<JobStatus>(bad).ok(), !is_needed) << key;
  }
  EXPECT_FALSE(base::from_json<JobStatus>(base::Json::parse("[1]")).ok());
}

TEST(TaskStatus, TheSentenceOfAnOlderMasterIsKept) {
  base::Json json = base::to_json(full_status());
  json["tasks"][0].erase("exit_why");
  EXPECT_EQ(base::from_json<JobStatus>(json)->tasks[0].exit,
            (Why{.reason = Reason::kExitStatus, .told = "exited with status 3"}));
  json["tasks"][0].erase("exit_reason");
  EXPECT_EQ(base::from_json<JobStatus>(json)->tasks[0].exit, Why{.told = "exited with status 3"});
}

// It had {"reason":"unknown"}, as an end without a known cause has.
TEST(TaskStatus, ARunThatSucceededHasNoReason) {
  JobStatus status = full_status();
  status.tasks[0].exit = Why{};
  base::Json json = base::to_json(status);
  EXPECT_EQ(json["tasks"][0]["exit"], "exited with status 0");
  EXPECT_FALSE(json["tasks"][0].contains("exit_why"));
  EXPECT_FALSE(json["tasks"][0].contains("exit_reason"));
  EXPECT_EQ(*base::from_json<JobStatus>(json), status);
  json["tasks"][0]["exit_why"] = {{"reason", "unknown"}};
  EXPECT_EQ(*base::from_json<JobStatus>(json), status);
  status.tasks[0].exit = Why{.told = "exited"};
  EXPECT_EQ(*base::from_json<JobStatus>(base::to_json(status)), status);
  status.tasks[0].exit = not_begun();
  EXPECT_EQ(base::to_json(status)["tasks"][0]["exit_reason"], "stopped");
}

TEST(JobStatus, RefusesUnknownStatesAndTooManyTasks) {
  base::Json json = base::to_json(full_status());
  json["state"] = "runing";
  const auto back = base::from_json<JobStatus>(json);
  ASSERT_FALSE(back.ok());
  EXPECT_EQ(back.error().message,
            "\"state\" must be allocating, roll_call, running, restarting, stopping, succeeded, "
            "failed, killed or lost");
  json = base::to_json(full_status());
  const base::Json task = json["tasks"][0];
  json["tasks"] = std::vector<base::Json>(kMaxTasks + 1, task);
  EXPECT_FALSE(base::from_json<JobStatus>(json).ok());
}

TEST(TaskStatus, ATimeThatIsNoNumberIsWrittenAsZero) {
  JobStatus status = full_status();
  status.tasks[0].cpu_seconds = std::numeric_limits<double>::quiet_NaN();
  const auto back = base::from_json<JobStatus>(base::to_json(status));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->tasks[0].cpu_seconds, 0);
}

TEST(States, NamesReadBackAndFinalOnesAreKnown) {
  int final_states = 0;
  for (int i = 0; i <= static_cast<int>(JobState::kLost); ++i) {
    const auto state = static_cast<JobState>(i);
    EXPECT_EQ(choice_from<JobState>(to_string(state)).value_or(JobState::kAllocating), state);
    final_states += is_final(state) ? 1 : 0;
  }
  EXPECT_EQ(final_states, 4);
  final_states = 0;
  for (int i = 0; i <= static_cast<int>(TaskState::kLost); ++i) {
    const auto state = static_cast<TaskState>(i);
    EXPECT_EQ(choice_from<TaskState>(to_string(state)).value_or(TaskState::kWaiting), state);
    final_states += is_final(state) ? 1 : 0;
  }
  EXPECT_EQ(final_states, 4);
  EXPECT_FALSE(is_final(JobState::kStopping));
  EXPECT_FALSE(is_final(TaskState::kStopping));
}

}  // namespace
}  // namespace gangrun::job
