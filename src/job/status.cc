#include "job/status.h"

#include <cmath>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/choice.h"
#include "job/json_text.h"
#include "job/spec_names.h"

namespace gangrun::job {

namespace {

// Names, addresses, paths and moments: what is longer is none of ours.
constexpr std::size_t kMaxFieldBytes = 4096;

base::Json ports_json(const std::vector<TaskPort>& ports) {
  base::Json list = base::Json::array();
  for (const TaskPort& port : ports) list.push_back({{"name", port.name}, {"port", port.port}});
  return list;
}

base::Result<std::vector<TaskPort>> ports_from(const base::Json& json) {
  const auto list = json.find("ports");
  if (list == json.end() || !list->is_array() ||
      list->size() > static_cast<std::size_t>(kMaxPortsPerTask)) {
    return base::invalid_argument(
        base::format("\"ports\" must be a list of at most {}", kMaxPortsPerTask));
  }
  std::vector<TaskPort> ports;
  for (const base::Json& element : *list) {
    TaskPort& port = ports.emplace_back();
    GANGRUN_ASSIGN(port.name, text_member(element, "name", kMaxFieldBytes));
    GANGRUN_ASSIGN(port.port, base::json_member<std::uint16_t>(element, "port"));
  }
  return ports;
}

// Older masters tell a sentence, and perhaps a reason, in place of values.
base::Result<std::optional<Why>> exit_from(const base::Json& json) {
  GANGRUN_ASSIGN(std::string told, text_member(json, "exit", kMaxSentenceBytes));
  if (told.empty()) return std::optional<Why>();
  if (json.contains("exit_why")) {
    GANGRUN_ASSIGN(Why why, why_member(json, "exit_why"));
    return std::optional(std::move(why));
  }
  GANGRUN_ASSIGN(const auto reason, base::json_member_or<std::string>(json, "exit_reason", ""));
  return std::optional(Why{.reason = reason_or_unknown(reason), .told = std::move(told)});
}

// Its first process, and what all of it use.
base::Result<> read_use(const base::Json& json, TaskStatus& status) {
  GANGRUN_ASSIGN(status.pid, base::json_member<std::int64_t>(json, "pid"));
  GANGRUN_ASSIGN(status.memory_bytes, base::json_member<std::int64_t>(json, "memory_bytes"));
  GANGRUN_ASSIGN(status.cpu_seconds, base::json_member<double>(json, "cpu_seconds"));
  return {};
}

base::Result<TaskStatus> task_status_from_json(const base::Json& json) {
  TaskStatus status;
  GANGRUN_ASSIGN(const auto task, base::json_member<std::string>(json, "task"));
  GANGRUN_ASSIGN(status.task, parse_task_id(task));
  GANGRUN_ASSIGN(const auto policy, base::json_member<std::string>(json, "policy"));
  GANGRUN_ASSIGN(status.policy, choice_from<Policy>(policy));
  GANGRUN_ASSIGN(const auto state, base::json_member<std::string>(json, "state"));
  GANGRUN_ASSIGN(status.state, choice_from<TaskState>(state));
  GANGRUN_ASSIGN(status.attempt, base::json_member<int>(json, "attempt"));
  GANGRUN_ASSIGN(status.address, text_member(json, "address", kMaxFieldBytes));
  GANGRUN_ASSIGN(status.address_reason, text_member(json, "address_reason", kMaxSentenceBytes));
  GANGRUN_ASSIGN(status.ports, ports_from(json));
  GANGRUN_TRY(read_use(json, status));
  GANGRUN_ASSIGN(status.exit, exit_from(json));
  GANGRUN_ASSIGN(status.last_line, text_member(json, "last_line", kMaxLineBytes));
  GANGRUN_ASSIGN(status.log_path, path_member(json, "log_path", kMaxFieldBytes));
  if (json.contains("incomplete_log")) {
    GANGRUN_ASSIGN(status.incomplete_log, text_member(json, "incomplete_log", kMaxSentenceBytes));
  }
  if (json.contains("lost_outputs")) {
    GANGRUN_ASSIGN(status.lost_outputs, text_member(json, "lost_outputs", kMaxSentenceBytes));
  }
  if (json.contains("figures")) {
    GANGRUN_ASSIGN(status.figures, figures_from_json(json.at("figures")));
  }
  return status;
}

base::Result<> read_numbers(const base::Json& json, JobStatus& status) {
  GANGRUN_ASSIGN(status.generation, base::json_member<int>(json, "generation"));
  GANGRUN_ASSIGN(status.restarts_used, base::json_member<int>(json, "restarts_used"));
  GANGRUN_ASSIGN(status.restarts_max, base::json_member<int>(json, "restarts_max"));
  GANGRUN_ASSIGN(status.elapsed_ms, base::json_member<std::int64_t>(json, "elapsed_ms"));
  GANGRUN_ASSIGN(status.all_started_ms, base::json_member<std::int64_t>(json, "all_started_ms"));
  if (json.contains("has_run")) {
    GANGRUN_ASSIGN(status.has_run, base::json_member<bool>(json, "has_run"));
  }
  return {};
}

base::Result<> read_tasks(const base::Json& json, JobStatus& status) {
  const auto tasks = json.find("tasks");
  if (tasks == json.end() || !tasks->is_array()) {
    return base::invalid_argument("\"tasks\" must be a list");
  }
  if (tasks->size() > static_cast<std::size_t>(kMaxTasks)) {
    return base::invalid_argument(base::format("\"tasks\" has more than {} tasks", kMaxTasks));
  }
  for (const base::Json& element : *tasks) {
    GANGRUN_ASSIGN(TaskStatus task, task_status_from_json(element));
    status.tasks.push_back(std::move(task));
  }
  return {};
}

}  // namespace

std::string_view to_string(JobState state) {
  switch (state) {
    case JobState::kAllocating: return "allocating";
    case JobState::kRollCall: return "roll_call";
    case JobState::kRunning: return "running";
    case JobState::kRestarting: return "restarting";
    case JobState::kStopping: return "stopping";
    case JobState::kSucceeded: return "succeeded";
    case JobState::kFailed: return "failed";
    case JobState::kKilled: return "killed";
    case JobState::kLost: return "lost";
  }
  return "lost";
}

std::string_view to_string(TaskState state) {
  switch (state) {
    case TaskState::kWaiting: return "waiting";
    case TaskState::kAllocated: return "allocated";
    case TaskState::kRegistered: return "registered";
    case TaskState::kSpare: return "spare";
    case TaskState::kStarting: return "starting";
    case TaskState::kRunning: return "running";
    case TaskState::kStopping: return "stopping";
    case TaskState::kSucceeded: return "succeeded";
    case TaskState::kFailed: return "failed";
    case TaskState::kStopped: return "stopped";
    case TaskState::kLost: return "lost";
  }
  return "lost";
}

bool is_final(JobState state) {
  return state == JobState::kSucceeded || state == JobState::kFailed ||
         state == JobState::kKilled || state == JobState::kLost;
}

bool is_final(TaskState state) {
  return state == TaskState::kSucceeded || state == TaskState::kFailed ||
         state == TaskState::kStopped || state == TaskState::kLost;
}

base::Json to_json(const TaskStatus& status) {
  base::Json json = {
      {"task", to_string(status.task)},
      {"policy", to_string(status.policy)},
      {"state", to_string(status.state)},
      {"attempt", status.attempt},
      {"address", json_text(status.address, kMaxFieldBytes)},
      {"address_reason", json_text(status.address_reason, kMaxSentenceBytes)},
      {"ports", ports_json(status.ports)},
      {"pid", status.pid},
      {"memory_bytes", status.memory_bytes},
      {"cpu_seconds", std::isfinite(status.cpu_seconds) ? status.cpu_seconds : 0.0},
      {"exit", status.exit ? json_text(to_words(*status.exit), kMaxSentenceBytes) : ""},
      {"last_line", json_text(status.last_line, kMaxLineBytes)},
      {"log_path", base::shorten(status.log_path, kMaxFieldBytes)}};
  if (status.exit) {
    const Reason reason = status.exit->reason;
    if (reason != Reason::kUnknown) json["exit_reason"] = to_string(reason);
    json["exit_why"] = to_json(*status.exit);
  }
  if (!status.incomplete_log.empty()) {
    json["incomplete_log"] = json_text(status.incomplete_log, kMaxSentenceBytes);
  }
  if (!status.lost_outputs.empty()) {
    json["lost_outputs"] = json_text(status.lost_outputs, kMaxSentenceBytes);
  }
  if (!status.figures.empty()) json["figures"] = to_json(status.figures);
  return json;
}

base::Json to_json(const JobStatus& status) {
  base::Json tasks = base::Json::array();
  for (const TaskStatus& task : status.tasks) tasks.push_back(to_json(task));
  base::Json json = {{"id", json_text(status.id, kMaxFieldBytes)},
                     {"name", json_text(status.name, kMaxFieldBytes)},
                     {"state", to_string(status.state)},
                     {"generation", status.generation},
                     {"restarts_used", status.restarts_used},
                     {"restarts_max", status.restarts_max},
                     {"submitted", json_text(status.submitted, kMaxFieldBytes)},
                     {"ended", json_text(status.ended, kMaxFieldBytes)},
                     {"elapsed_ms", status.elapsed_ms},
                     {"all_started_ms", status.all_started_ms},
                     {"waiting_for", json_text(status.waiting_for, kMaxSentenceBytes)},
                     {"folder", base::shorten(status.folder, kMaxFieldBytes)},
                     {"cause", status.cause ? to_json(*status.cause) : base::Json()}};
  if (status.has_run) json["has_run"] = *status.has_run;
  if (!status.notes.empty()) json["notes"] = json_lines(status.notes);
  json["tasks"] = std::move(tasks);
  return json;
}

base::Result<JobStatus> job_status_from_json(const base::Json& json) {
  JobStatus status;
  GANGRUN_ASSIGN(status.id, text_member(json, "id", kMaxFieldBytes));
  GANGRUN_ASSIGN(status.name, text_member(json, "name", kMaxFieldBytes));
  GANGRUN_ASSIGN(const auto state, base::json_member<std::string>(json, "state"));
  GANGRUN_ASSIGN(status.state, choice_from<JobState>(state));
  GANGRUN_TRY(read_numbers(json, status));
  GANGRUN_ASSIGN(status.submitted, text_member(json, "submitted", kMaxFieldBytes));
  GANGRUN_ASSIGN(status.ended, text_member(json, "ended", kMaxFieldBytes));
  GANGRUN_ASSIGN(status.waiting_for, text_member(json, "waiting_for", kMaxSentenceBytes));
  GANGRUN_ASSIGN(status.folder, path_member(json, "folder", kMaxFieldBytes));
  const auto cause = json.find("cause");
  if (cause != json.end() && !cause->is_null()) {
    GANGRUN_ASSIGN(status.cause, cause_from_json(*cause));
  }
  if (json.contains("notes")) {
    GANGRUN_ASSIGN(status.notes, lines_member(json, "notes"));
  }
  GANGRUN_TRY(read_tasks(json, status));
  return status;
}

}  // namespace gangrun::job
