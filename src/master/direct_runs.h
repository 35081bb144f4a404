#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/direct.h"
#include "job/cluster_spec.h"
#include "job/exit_report.h"
#include "job/spec.h"
#include "job/task_id.h"

namespace gangrun::master {

// A task without an agent, as its place knows it.
struct DirectTask {
  job::TaskId id;
  job::Address address;
  std::vector<std::uint16_t> more_ports;
};

// What a run of the task finds where no agent makes its variables: those of the frameworks, then
// what the user set; but GANGRUN_* are ours. A cluster spec that no variable can hold is left out.
base::Result<std::map<std::string, std::string>> direct_variables(
    const job::JobSpec& spec, const std::string& job_id, const job::ClusterSpec& cluster_spec,
    const DirectTask& task, int restarts);

// What is kept of the output of runs for the report of a failure, as an agent would.
class DirectRuns {
 public:
  void started(const job::TaskId& task, std::string host);
  void add(const job::TaskId& task, const std::string& line);
  // The report of the task's run, with its last lines, its traceback and where it was.
  [[nodiscard]] job::ExitReport completed(const job::TaskId& task, job::ExitReport report) const;
  // The next run has none of the lines of this one.
  void forget(const job::TaskId& task) { runs_.erase(task); }
  // Where the task's run is; empty: not known.
  [[nodiscard]] std::string host_of(const job::TaskId& task) const;

 private:
  struct Run {
    std::string host;
    std::list<std::string> lines;  // a deque would take 600 bytes for none of them
    std::size_t bytes = 0;
  };

  std::map<job::TaskId, Run> runs_;
};

}  // namespace gangrun::master
