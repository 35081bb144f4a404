#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/log.h"
#include "base/overloaded.h"
#include "base/result.h"
#include "cluster/line_files.h"
#include "cluster/tasks.h"
#include "gang/decision.h"
#include "job/exit_report.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/pod_run.h"

namespace gangrun::kubernetes::pods {

// The end of what a run has written, for the report of a failure, as an agent would keep it.
class LastLines {
 public:
  void add(const std::string& line);
  // The report with the lines, and with the traceback of Python that is in them.
  [[nodiscard]] job::ExitReport completed(job::ExitReport report) const;

 private:
  std::list<std::string> lines_;  // a deque would take 600 bytes for none of them
  std::size_t bytes_ = 0;
};

// The runs of tasks that no agent is beside: what an agent would tell is made of what their pods
// tell. A slot's address is known beforehand, so its task reports as soon as the slot is there.
class PodRuns {
 public:
  using Events = std::vector<cluster::TasksEvent>;

  // Lines go to files in `log_folder`. The references outlive it.
  PodRuns(const Manifests& manifests, const std::string& log_folder, base::Logger& logger);

  // An earlier master had it started.
  void adopt(const cluster::Left& left);
  // The next run of the task. An error: it cannot be run, and why.
  base::Result<PodRun> begin(const gang::Start& decision,
                             const std::shared_ptr<const job::ClusterSpec>& spec);
  Events told(const PodEvent& event) {
    return std::visit([this](const auto& each) { return this->events_of(each); }, event);
  }

  [[nodiscard]] const cluster::TaskFacts* facts(const job::TaskId& task) const;
  // Lines of the tasks that could not be written, as a sentence; none: all were.
  [[nodiscard]] std::optional<std::string> lost_lines() const { return files_.missing(); }

 private:
  struct Task {
    cluster::TaskFacts facts;
    int attempt = 0;  // of the run that began last
    LastLines last_lines{};
  };

  static Events events_of(const base::OneOf<job::AgentEnded, gang::ClusterGone> auto& event) {
    return {cluster::Happened{event}};
  }
  static Events events_of(const cluster::TasksWarning& event) { return {event}; }
  // Only a book with agents tells them.
  static Events events_of(const base::OneOf<cluster::PreemptionNotice, cluster::LossesTold> auto&) {
    return {};
  }
  Events events_of(const cluster::AgentAllocated& slot);
  Events events_of(const RunStarted& event);
  Events events_of(const RunLine& event);
  Events events_of(const job::Exited& event);

  const Manifests& manifests_;
  const std::string log_folder_;
  cluster::LineFiles files_;
  std::map<job::TaskId, Task> tasks_;
};

}  // namespace gangrun::kubernetes::pods
