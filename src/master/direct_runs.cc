#include "master/direct_runs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/format.h"
#include "frameworks/environment.h"
#include "process/output.h"

namespace gangrun::master {

base::Result<std::map<std::string, std::string>> direct_variables(
    const job::JobSpec& spec, const std::string& job_id, const job::ClusterSpec& cluster_spec,
    const DirectTask& task, int restarts) {
  const frameworks::Inputs inputs{.job = spec,
                                  .cluster = cluster_spec,
                                  .job_id = job_id,
                                  .restarts = restarts,
                                  .cluster_spec_file = "nowhere",
                                  .notice_file = cluster::kDirectNoticeFile,
                                  .own_address = task.address,
                                  .more_ports = task.more_ports};
  GANGRUN_ASSIGN(auto made, frameworks::environment_of(inputs, task.id, 0));
  // There is no file of ours in an image: it has the spec for as long as a variable can.
  const std::string variable = "GANGRUN_CLUSTER_SPEC";
  std::string& content = made.cluster_spec_file_content;
  if (!content.empty()) {
    made.variables.erase("GANGRUN_CLUSTER_SPEC_FILE");
    if (frameworks::fits_in_variable(variable, content)) {
      made.variables[variable] = std::move(content);
    }
  }
  for (const auto* users : {&spec.environment, &spec.find(task.id.type)->environment}) {
    for (const auto& [name, value] : *users) {
      if (!frameworks::is_reserved(name)) made.variables[name] = value;
    }
  }
  return std::move(made.variables);
}

void DirectRuns::started(const job::TaskId& task, std::string host) {
  runs_[task].host = std::move(host);
}

void DirectRuns::add(const job::TaskId& task, const std::string& line) {
  Run& run = runs_[task];
  run.lines.push_back(line);
  run.bytes += line.size();
  while (run.lines.size() > process::kMaxTracebackLines ||
         run.bytes > process::kMaxTracebackBytes) {
    run.bytes -= run.lines.front().size();
    run.lines.pop_front();
  }
}

job::ExitReport DirectRuns::completed(const job::TaskId& task, job::ExitReport report) const {
  const auto found = runs_.find(task);
  if (found == runs_.end() || report.success) return report;
  const Run& run = found->second;
  report.why.host = run.host;
  const std::vector<std::string> lines(run.lines.begin(), run.lines.end());
  report.has_both_streams = true;
  report.traceback = process::python_traceback(lines).value_or("");
  const std::size_t shown = std::min<std::size_t>(lines.size(), job::kLastLines);
  report.last_lines.assign(lines.end() - static_cast<std::ptrdiff_t>(shown), lines.end());
  return report;
}

std::string DirectRuns::host_of(const job::TaskId& task) const {
  const auto found = runs_.find(task);
  return found == runs_.end() ? "" : found->second.host;
}

}  // namespace gangrun::master
