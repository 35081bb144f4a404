#include "job/cause.h"

#include <utility>

#include "base/clock.h"
#include "base/format.h"

namespace gangrun::job {

namespace {

using base::format;

// The cause of a job that did not end for one of its tasks.
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

base::Json Cause::reason_of(const Cause& cause) { return to_string(cause.why.reason); }

base::Json Cause::sentence_of(const Cause& cause) { return kSentence.write(to_words(cause)); }

base::Result<std::optional<base::Json>> Cause::renewed(const base::Json& json) {
  if (!json.is_object() || json.contains("why")) return std::optional<base::Json>();
  GANGRUN_ASSIGN(const auto reason, base::json_member_or<std::string>(json, "reason", ""));
  GANGRUN_ASSIGN(std::string told, base::json_member<std::string>(json, "sentence"));
  base::Json now = json;
  now["why"] = {{"reason", reason}};
  now["told"] = std::move(told);
  return std::optional(std::move(now));
}

}  // namespace gangrun::job
