#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "job/cause.h"
#include "job/choice.h"
#include "job/figures.h"
#include "job/spec.h"
#include "job/task_id.h"
#include "job/why.h"

namespace gangrun::job {

enum class JobState {
  kAllocating,  // some tasks have no place yet
  kRollCall,    // all have a place, not all have reported
  kRunning,
  kRestarting,  // the gang is being stopped, to come back with the next generation
  kStopping,    // the result is decided, tasks are still ending
  kSucceeded,
  kFailed,
  kKilled,  // ended because somebody asked for it
  kLost,    // its master vanished without a verdict
};

enum class TaskState {
  kWaiting,     // asked for, no place yet
  kAllocated,   // has a place, its agent has not reported
  kRegistered,  // its agent holds a port and waits for the cluster spec
  kSpare,       // the same, without a place in the generation that runs
  kStarting,    // told to start
  kRunning,
  kStopping,
  kSucceeded,
  kFailed,
  kStopped,  // ended because we stopped it: no failure of its own
  kLost,     // not heard of any more
};

std::string_view to_string(JobState state);
std::string_view to_string(TaskState state);
[[nodiscard]] bool is_final(JobState state);
[[nodiscard]] bool is_final(TaskState state);

template <>
struct ChoiceOf<JobState> {
  static constexpr std::string_view kWhat = "a state of a job";
  static constexpr std::array kValues = {
      JobState::kAllocating, JobState::kRollCall, JobState::kRunning,
      JobState::kRestarting, JobState::kStopping, JobState::kSucceeded,
      JobState::kFailed,     JobState::kKilled,   JobState::kLost};
};

template <>
struct ChoiceOf<TaskState> {
  static constexpr std::string_view kWhat = "a state of a task";
  static constexpr std::array kValues = {
      TaskState::kWaiting,  TaskState::kAllocated, TaskState::kRegistered, TaskState::kSpare,
      TaskState::kStarting, TaskState::kRunning,   TaskState::kStopping,   TaskState::kSucceeded,
      TaskState::kFailed,   TaskState::kStopped,   TaskState::kLost};
};

struct TaskPort {
  std::string name;  // empty: it has none
  std::uint16_t port = 0;

  friend bool operator==(const TaskPort&, const TaskPort&) = default;
};

struct TaskStatus {
  TaskId task;
  Policy policy = Policy::kTracked;
  TaskState state = TaskState::kWaiting;
  int attempt = 1;
  std::string address;          // "host:port", empty until it has reported
  std::string address_reason;   // why this address and no other of its host
  std::vector<TaskPort> ports;  // all that are held for it, that of the address first
  std::int64_t pid = 0;         // of its first process, as the master's host sees it; 0: none
  std::int64_t memory_bytes = 0;
  double cpu_seconds = 0;
  std::optional<Why> exit;  // how its last run ended; none while it runs
  std::string last_line;    // of its output
  std::string log_path;     // without the ending: ".out" and ".err" stand beside
  // How many of its lines are not there, and why; empty: all are.
  std::string incomplete_log{};
  // Which of its outputs were not kept, and why; empty: all were.
  std::string lost_outputs{};
  Figures figures{};  // what the task itself tells

  friend bool operator==(const TaskStatus&, const TaskStatus&) = default;
};

// One moment of a job: what status, ps, the display and the REST interface show.
struct JobStatus {
  std::string id;
  std::string name;
  JobState state = JobState::kAllocating;
  int generation = 0;
  int restarts_used = 0;
  int restarts_max = 0;
  std::string submitted;  // ISO 8601, UTC
  std::string ended;      // empty while it runs
  std::int64_t elapsed_ms = 0;
  std::int64_t all_started_ms =
      -1;  // from the command to the last user process started; -1: not yet
  // Whether a process of any task has run; none: who says this cannot know.
  std::optional<bool> has_run{};
  std::string waiting_for;  // in words; empty when it waits for nothing
  std::string folder;
  std::optional<Cause> cause;
  std::vector<std::string> notes{};  // what is wrong beside the job, which goes on without; few
  std::vector<TaskStatus> tasks;

  friend bool operator==(const JobStatus&, const JobStatus&) = default;
};

base::Json to_json(const JobStatus& status);
base::Json to_json(const TaskStatus& status);
base::Result<JobStatus> job_status_from_json(const base::Json& json);

}  // namespace gangrun::job
