#include "job/exit_report.h"

#include "job/json_text.h"

namespace gangrun::job {

base::Json to_json(const ExitReport& report) {
  base::Json json = {{"success", report.success},
                     {"code", report.code},
                     {"signal", report.signal},
                     {"out_of_memory", report.out_of_memory},
                     {"could_not_start", report.could_not_start},
                     {"port_lost", report.port_lost},
                     {"sentence", json_text(report.sentence, kMaxSentenceBytes)},
                     {"last_lines", json_lines(report.last_lines)},
                     {"traceback", json_text(report.traceback, kMaxTracebackBytes)}};
  // Journals of before do not have it.
  if (report.preempted) json["preempted"] = true;
  return json;
}

base::Result<ExitReport> exit_report_from_json(const base::Json& json) {
  ExitReport report;
  GANGRUN_ASSIGN(report.success, base::json_member<bool>(json, "success"));
  GANGRUN_ASSIGN(report.code, base::json_member<int>(json, "code"));
  GANGRUN_ASSIGN(report.signal, base::json_member<int>(json, "signal"));
  GANGRUN_ASSIGN(report.out_of_memory, base::json_member<bool>(json, "out_of_memory"));
  GANGRUN_ASSIGN(report.could_not_start, base::json_member<bool>(json, "could_not_start"));
  GANGRUN_ASSIGN(report.port_lost, base::json_member<bool>(json, "port_lost"));
  if (json.contains("preempted")) {
    GANGRUN_ASSIGN(report.preempted, base::json_member<bool>(json, "preempted"));
  }
  GANGRUN_ASSIGN(report.sentence, text_member(json, "sentence", kMaxSentenceBytes));
  GANGRUN_ASSIGN(report.last_lines, lines_member(json, "last_lines"));
  GANGRUN_ASSIGN(report.traceback, text_member(json, "traceback", kMaxTracebackBytes));
  return report;
}

}  // namespace gangrun::job
