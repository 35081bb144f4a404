#include "job/exit_report.h"

#include <utility>

#include "job/described.h"

namespace gangrun::job {

namespace {

// Before there were reasons, a report had a flag for each of some.
base::Result<Reason> reason_of_flags(const base::Json& json, const Why& why) {
  for (const Reason reason : {Reason::kOutOfMemory, Reason::kCouldNotStart, Reason::kPreempted}) {
    GANGRUN_ASSIGN(const bool is_set, base::json_member_or(json, to_string(reason), false));
    if (is_set) return reason;
  }
  GANGRUN_ASSIGN(const bool port_lost, base::json_member<bool>(json, "port_lost"));
  if (port_lost) return Reason::kPortLost;
  return why.signal > 0 ? Reason::kSignal : Reason::kExitStatus;
}

base::Result<Reason> reason_told(const base::Json& json, const Why& why) {
  if (json.contains(to_string(Reason::kOutOfMemory))) return reason_of_flags(json, why);
  GANGRUN_ASSIGN(const auto text, base::json_member<std::string>(json, "reason"));
  return reason_or_unknown(text);
}

// Reads a report with a sentence in place of values.
base::Result<Why> why_told(const base::Json& json, bool success) {
  Why why;
  GANGRUN_ASSIGN(why.code, base::json_member<int>(json, "code"));
  GANGRUN_ASSIGN(why.signal, base::json_member<int>(json, "signal"));
  if (!success) {
    GANGRUN_ASSIGN(why.reason, reason_told(json, why));
  }
  GANGRUN_ASSIGN(why.told, text_member(json, "sentence", kMaxSentenceBytes));
  return why;
}

}  // namespace

base::Result<std::optional<base::Json>> ExitReport::renewed(const base::Json& json) {
  if (!json.is_object() || !json.contains("sentence")) return std::optional<base::Json>();
  GANGRUN_ASSIGN(const bool success, base::json_member<bool>(json, "success"));
  GANGRUN_ASSIGN(const Why why, why_told(json, success));
  base::Json now = json;
  now.erase("sentence");
  now["why"] = base::to_json(why);
  return std::optional(std::move(now));
}

}  // namespace gangrun::job
