#include "job/cause.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/clock.h"
#include "base/format.h"
#include "job/json_text.h"

namespace gangrun::job {

namespace {

using base::format;

// Longer than any host name that DNS permits.
constexpr std::size_t kMaxCauseHostBytes = 4096;

// Of a job that did not end for one of its tasks.
std::string words_of_job(const Why& why) {
  switch (why.reason) {
    case Reason::kUnknown: return why.detail;
    case Reason::kStopped:
      return why.detail.empty() ? "the job was stopped" : format("stopped by {}", why.detail);
    case Reason::kJobTimeout: return "the job " + to_words(why);
    case Reason::kMasterLost: return why.detail.empty() ? "its master was killed" : why.detail;
    default: return why.detail.empty() ? "the job " + to_words(why) : why.detail;
  }
}

std::string words_of_task(const TaskId& task, const std::string& host, const Why& why) {
  return host.empty() ? format("{} {}", to_string(task), to_words(why))
                      : format("{} on {} {}", to_string(task), host, to_words(why));
}

base::Json to_json(const Follower& next) {
  return {{"task", to_string(next.task)}, {"after_ms", next.after.count()}};
}

base::Result<Follower> follower_from_json(const base::Json& json) {
  Follower next;
  GANGRUN_ASSIGN(const auto task, base::json_member<std::string>(json, "task"));
  GANGRUN_ASSIGN(next.task, parse_task_id(task));
  GANGRUN_ASSIGN(const auto after, base::json_member<std::int64_t>(json, "after_ms"));
  next.after = std::chrono::milliseconds(after);
  return next;
}

// Of a cause with no more than its sentence and perhaps its reason.
base::Result<Cause> cause_told(const base::Json& json, Cause cause) {
  GANGRUN_ASSIGN(const auto reason, base::json_member_or<std::string>(json, "reason", ""));
  cause.why.reason = reason_or_unknown(reason);
  GANGRUN_ASSIGN(cause.told, text_member(json, "sentence", kMaxSentenceBytes));
  return cause;
}

}  // namespace

std::string to_words(const Cause& cause) {
  if (!cause.told.empty()) return cause.told;
  std::string words =
      cause.task ? words_of_task(*cause.task, cause.host, cause.why) : words_of_job(cause.why);
  if (cause.lost_ports > 0) {
    words += format("; the same happened with {} other ports", cause.lost_ports);
  }
  if (cause.next) {
    words += format(", {} before {} failed too", base::to_words(cause.next->after),
                    to_string(cause.next->task));
  }
  if (!cause.beside.empty()) words += format("; {}", cause.beside);
  return words;
}

base::Json to_json(const Cause& cause) {
  base::Json json = {{"task", cause.task ? base::Json(to_string(*cause.task)) : base::Json()},
                     {"host", json_text(cause.host, kMaxCauseHostBytes)},
                     {"reason", to_string(cause.why.reason)},
                     {"sentence", json_text(to_words(cause), kMaxSentenceBytes)},
                     {"why", to_json(cause.why)}};
  if (cause.lost_ports > 0) json["lost_ports"] = cause.lost_ports;
  if (cause.next) json["next"] = to_json(*cause.next);
  if (!cause.beside.empty()) json["beside"] = json_text(cause.beside, kMaxSentenceBytes);
  if (!cause.told.empty()) json["told"] = json_text(cause.told, kMaxSentenceBytes);
  json["last_lines"] = json_lines(cause.last_lines);
  if (cause.has_both_streams) json["both_streams"] = true;
  json["traceback"] = json_text(cause.traceback, kMaxTracebackBytes);
  return json;
}

base::Result<Cause> cause_from_json(const base::Json& json) {
  Cause cause;
  GANGRUN_ASSIGN(const auto task, base::json_member_or<std::string>(json, "task", ""));
  if (!task.empty()) {
    GANGRUN_ASSIGN(cause.task, parse_task_id(task));
  }
  GANGRUN_ASSIGN(cause.host, text_member(json, "host", kMaxCauseHostBytes));
  GANGRUN_ASSIGN(cause.last_lines, lines_member(json, "last_lines"));
  GANGRUN_ASSIGN(cause.has_both_streams, base::json_member_or(json, "both_streams", false));
  GANGRUN_ASSIGN(cause.traceback, text_member(json, "traceback", kMaxTracebackBytes));
  if (!json.contains("why")) return cause_told(json, std::move(cause));
  GANGRUN_ASSIGN(cause.why, why_member(json, "why"));
  GANGRUN_ASSIGN(cause.lost_ports, base::json_member_or(json, "lost_ports", 0));
  if (const auto next = json.find("next"); next != json.end()) {
    GANGRUN_ASSIGN(cause.next, follower_from_json(*next));
  }
  GANGRUN_ASSIGN(cause.beside, text_member_or_empty(json, "beside", kMaxSentenceBytes));
  GANGRUN_ASSIGN(cause.told, text_member_or_empty(json, "told", kMaxSentenceBytes));
  return cause;
}

}  // namespace gangrun::job
