#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/described.h"
#include "base/json.h"
#include "base/result.h"
#include "job/cause.h"
#include "job/choice.h"
#include "job/figures.h"
#include "job/json_text.h"
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
constexpr auto choice_of(JobState) {
  using enum JobState;
  return choice<JobState>("a state of a job", {{kAllocating, "allocating"},
                                               {kRollCall, "roll_call"},
                                               {kRunning, "running"},
                                               {kRestarting, "restarting"},
                                               {kStopping, "stopping"},
                                               {kSucceeded, "succeeded"},
                                               {kFailed, "failed"},
                                               {kKilled, "killed"},
                                               {kLost, "lost"}});
}

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
  kLost,     // no heartbeat comes any more
};
constexpr auto choice_of(TaskState) {
  using enum TaskState;
  return choice<TaskState>("a state of a task", {{kWaiting, "waiting"},
                                                 {kAllocated, "allocated"},
                                                 {kRegistered, "registered"},
                                                 {kSpare, "spare"},
                                                 {kStarting, "starting"},
                                                 {kRunning, "running"},
                                                 {kStopping, "stopping"},
                                                 {kSucceeded, "succeeded"},
                                                 {kFailed, "failed"},
                                                 {kStopped, "stopped"},
                                                 {kLost, "lost"}});
}

[[nodiscard]] bool is_final(JobState state);
[[nodiscard]] bool is_final(TaskState state);

// The longest name, address, path or moment: a longer one is none of ours.
inline constexpr std::size_t kMaxStatusFieldBytes = 4096;
inline constexpr Told kStatusText{kMaxStatusFieldBytes};
inline constexpr base::Bytes kStatusPath{kMaxStatusFieldBytes, true};

struct TaskPort {
  std::string name;  // empty: it has none
  std::uint16_t port = 0;

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("name", &TaskPort::name, kStatusText),
                      base::row("port", &TaskPort::port));
  }

  friend bool operator==(const TaskPort&, const TaskPort&) = default;
};

// The most bytes of a task's last line, as it is shown.
inline constexpr std::size_t kMaxLastLineBytes = 400;

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

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(
        GANGRUN_EACH(base::row, TaskStatus, task, policy, state, attempt),
        base::row("address", &TaskStatus::address, kStatusText),
        base::row("address_reason", &TaskStatus::address_reason, kSentence),
        base::row("ports", &TaskStatus::ports, base::ListOf<base::Plain>{kMaxPortsPerTask}),
        base::row("pid", &TaskStatus::pid), base::row("memory_bytes", &TaskStatus::memory_bytes),
        base::row("cpu_seconds", &TaskStatus::cpu_seconds, base::Amount{}),
        base::derived_row("exit", exit_words),
        base::row("last_line", &TaskStatus::last_line, Told{kMaxLineBytes}),
        base::row("log_path", &TaskStatus::log_path, kStatusPath),
        base::derived_row("exit_reason", exit_reason),
        base::tolerant_row_when(is_no_success, "exit_why", &TaskStatus::exit),
        base::row_if_set("incomplete_log", &TaskStatus::incomplete_log, kSentence),
        base::row_if_set("lost_outputs", &TaskStatus::lost_outputs, kSentence),
        base::row_if_set("figures", &TaskStatus::figures));
  }
  // For people and programs that show them; the first is empty where there is no exit.
  static base::Json exit_words(const TaskStatus& status);
  static std::optional<std::string> exit_reason(const TaskStatus& status);
  // A run that succeeded has no reason, and its words say all.
  static bool is_no_success(const TaskStatus& status) { return status.exit != Why{}; }
  // Reads one with a sentence, and perhaps a reason, in place of values.
  static base::Result<std::optional<base::Json>> renewed(const base::Json& json);

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

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(
        base::row("id", &JobStatus::id, kStatusText),
        base::row("name", &JobStatus::name, kStatusText),
        GANGRUN_EACH(base::row, JobStatus, state, generation, restarts_used, restarts_max),
        base::row("submitted", &JobStatus::submitted, kStatusText),
        base::row("ended", &JobStatus::ended, kStatusText),
        base::row("elapsed_ms", &JobStatus::elapsed_ms),
        base::row("all_started_ms", &JobStatus::all_started_ms),
        base::row("waiting_for", &JobStatus::waiting_for, kSentence),
        base::row("folder", &JobStatus::folder, kStatusPath),
        base::row_or_null("cause", &JobStatus::cause), base::row("has_run", &JobStatus::has_run),
        base::row_if_set("notes", &JobStatus::notes, LastLines{}),
        base::row("tasks", &JobStatus::tasks, base::ListOf<base::Plain>{kMaxTasks}));
  }

  friend bool operator==(const JobStatus&, const JobStatus&) = default;
};

}  // namespace gangrun::job
