#include "job/exit_report.h"

#include <utility>

#include "job/json_text.h"

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

// Of a report with a sentence in place of values.
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

base::Json to_json(const ExitReport& report) {
  base::Json json = {{"success", report.success},
                     {"why", to_json(report.why)},
                     {"port_lost", report.port_lost},
                     {"last_lines", json_lines(report.last_lines)},
                     {"traceback", json_text(report.traceback, kMaxTracebackBytes)}};
  if (report.has_both_streams) json["both_streams"] = true;
  if (!report.lost_outputs.empty()) {
    json["lost_outputs"] = json_text(report.lost_outputs, kMaxSentenceBytes);
  }
  return json;
}

base::Result<ExitReport> exit_report_from_json(const base::Json& json) {
  ExitReport report;
  GANGRUN_ASSIGN(report.success, base::json_member<bool>(json, "success"));
  GANGRUN_ASSIGN(report.why, json.contains("sentence") ? why_told(json, report.success)
                                                       : why_member(json, "why"));
  GANGRUN_ASSIGN(report.port_lost, base::json_member<bool>(json, "port_lost"));
  GANGRUN_ASSIGN(report.last_lines, lines_member(json, "last_lines"));
  GANGRUN_ASSIGN(report.has_both_streams, base::json_member_or(json, "both_streams", false));
  GANGRUN_ASSIGN(report.traceback, text_member(json, "traceback", kMaxTracebackBytes));
  if (json.contains("lost_outputs")) {
    GANGRUN_ASSIGN(report.lost_outputs, text_member(json, "lost_outputs", kMaxSentenceBytes));
  }
  return report;
}

}  // namespace gangrun::job
