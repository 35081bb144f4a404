#include "kubernetes/pods/last_lines.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "process/output.h"

namespace gangrun::kubernetes::pods {

void LastLines::add(const job::TaskId& task, const std::string& line) {
  Run& run = runs_[task];
  run.lines.push_back(line);
  run.bytes += line.size();
  while (run.lines.size() > process::kMaxTracebackLines ||
         run.bytes > process::kMaxTracebackBytes) {
    run.bytes -= run.lines.front().size();
    run.lines.pop_front();
  }
}

job::ExitReport LastLines::completed(const job::TaskId& task, job::ExitReport report) const {
  const auto found = runs_.find(task);
  if (found == runs_.end()) return report;
  const Run& run = found->second;
  const std::vector<std::string> lines(run.lines.begin(), run.lines.end());
  report.has_both_streams = true;
  report.traceback = process::python_traceback(lines).value_or("");
  const std::size_t shown = std::min<std::size_t>(lines.size(), job::kLastLines);
  report.last_lines.assign(lines.end() - static_cast<std::ptrdiff_t>(shown), lines.end());
  return report;
}

}  // namespace gangrun::kubernetes::pods
