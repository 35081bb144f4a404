#include "job/exit_report.h"

#include "job/json_text.h"

namespace gangrun::job {

namespace {

// Older reports have a flag for each of some reasons.
base::Result<Reason> reason_of_flags(const base::Json& json, const ExitReport& report) {
  for (const Reason reason : {Reason::kOutOfMemory, Reason::kCouldNotStart, Reason::kPreempted}) {
    GANGRUN_ASSIGN(const bool is_set, base::json_member_or(json, to_string(reason), false));
    if (is_set) return reason;
  }
  if (report.port_lost) return Reason::kPortLost;
  return report.signal > 0 ? Reason::kSignal : Reason::kExitStatus;
}

base::Result<Reason> reason_of(const base::Json& json, const ExitReport& report) {
  if (json.contains(to_string(Reason::kOutOfMemory))) return reason_of_flags(json, report);
  GANGRUN_ASSIGN(const auto text, base::json_member<std::string>(json, "reason"));
  return reason_or_unknown(text);
}

}  // namespace

base::Json to_json(const ExitReport& report) {
  base::Json json = {{"success", report.success}};
  if (!report.success) json["reason"] = to_string(report.reason);
  json["code"] = report.code;
  json["signal"] = report.signal;
  json["port_lost"] = report.port_lost;
  json["sentence"] = json_text(report.sentence, kMaxSentenceBytes);
  json["last_lines"] = json_lines(report.last_lines);
  json["traceback"] = json_text(report.traceback, kMaxTracebackBytes);
  return json;
}

base::Result<ExitReport> exit_report_from_json(const base::Json& json) {
  ExitReport report;
  GANGRUN_ASSIGN(report.success, base::json_member<bool>(json, "success"));
  GANGRUN_ASSIGN(report.code, base::json_member<int>(json, "code"));
  GANGRUN_ASSIGN(report.signal, base::json_member<int>(json, "signal"));
  GANGRUN_ASSIGN(report.port_lost, base::json_member<bool>(json, "port_lost"));
  if (!report.success) {
    GANGRUN_ASSIGN(report.reason, reason_of(json, report));
  }
  GANGRUN_ASSIGN(report.sentence, text_member(json, "sentence", kMaxSentenceBytes));
  GANGRUN_ASSIGN(report.last_lines, lines_member(json, "last_lines"));
  GANGRUN_ASSIGN(report.traceback, text_member(json, "traceback", kMaxTracebackBytes));
  return report;
}

}  // namespace gangrun::job
