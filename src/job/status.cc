#include "job/status.h"

#include <utility>

namespace gangrun::job {

bool is_final(JobState state) {
  return state == JobState::kSucceeded || state == JobState::kFailed ||
         state == JobState::kKilled || state == JobState::kLost;
}

bool is_final(TaskState state) {
  return state == TaskState::kSucceeded || state == TaskState::kFailed ||
         state == TaskState::kStopped || state == TaskState::kLost;
}

base::Json TaskStatus::exit_words(const TaskStatus& status) {
  return status.exit ? kSentence.write(to_words(*status.exit)) : base::Json("");
}

std::optional<std::string> TaskStatus::exit_reason(const TaskStatus& status) {
  if (!status.exit || status.exit->reason == Reason::kUnknown) return std::nullopt;
  return std::string(to_string(status.exit->reason));
}

base::Result<std::optional<base::Json>> TaskStatus::renewed(const base::Json& json) {
  if (!json.is_object() || json.contains("exit_why")) return std::optional<base::Json>();
  GANGRUN_ASSIGN(std::string told, base::json_member<std::string>(json, "exit"));
  if (told.empty()) return std::optional<base::Json>();
  GANGRUN_ASSIGN(const auto reason, base::json_member_or<std::string>(json, "exit_reason", ""));
  base::Json now = json;
  now["exit_why"] = {{"reason", reason}};
  const bool is_success = reason.empty() && told == to_words(Why{});
  if (!is_success) now["exit_why"]["told"] = std::move(told);
  return std::optional(std::move(now));
}

}  // namespace gangrun::job
