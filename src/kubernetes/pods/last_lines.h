#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <string>

#include "job/exit_report.h"
#include "job/task_id.h"

namespace gangrun::kubernetes::pods {

// The end of what each run has written, for the report of a failure, as an agent would keep it.
class LastLines {
 public:
  void add(const job::TaskId& task, const std::string& line);
  // The report with the lines, and with the traceback of Python that is in them.
  [[nodiscard]] job::ExitReport completed(const job::TaskId& task, job::ExitReport report) const;
  // The next run has none of the lines of this one.
  void forget(const job::TaskId& task) { runs_.erase(task); }

 private:
  struct Run {
    std::list<std::string> lines;  // a deque would take 600 bytes for none of them
    std::size_t bytes = 0;
  };

  std::map<job::TaskId, Run> runs_;
};

}  // namespace gangrun::kubernetes::pods
