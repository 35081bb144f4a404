#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "cluster/launcher.h"
#include "cluster/line_files.h"
#include "cluster/tasks.h"
#include "gang/decision.h"
#include "kubernetes/pods/last_lines.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/pod_run.h"

namespace gangrun::kubernetes::pods {

// The runs of tasks that no agent is beside: what an agent would tell is made of what their pods
// tell. A slot's address is known beforehand, so its task reports as soon as the slot is there.
class PodRuns {
 public:
  // Lines go to files in `log_folder`. The references outlive it.
  PodRuns(const Manifests& manifests, const std::string& log_folder, base::Logger& logger);

  // An earlier master had it started.
  void adopt(const cluster::Left& left);
  // The next run of the task. An error: it cannot be run, and why.
  base::Result<PodRun> begin(const gang::Start& decision,
                             const std::shared_ptr<const job::ClusterSpec>& spec);
  std::vector<cluster::TasksEvent> told(const cluster::Event& event);
  std::vector<cluster::TasksEvent> told(const RunEvent& event);

  [[nodiscard]] const cluster::TaskFacts* facts(const job::TaskId& task) const;
  // Lines of the tasks that could not be written, as a sentence; none: all were.
  [[nodiscard]] std::optional<std::string> lost_lines() const { return files_.missing(); }

 private:
  struct Task {
    cluster::TaskFacts facts;
    int attempt = 0;  // of the run that began last
  };

  cluster::TasksEvent told(const RunStarted& event);
  std::vector<cluster::TasksEvent> told(const RunLine& event);
  cluster::TasksEvent told(const job::Exited& event);

  const Manifests& manifests_;
  const std::string log_folder_;
  cluster::LineFiles files_;
  LastLines last_lines_;
  std::map<job::TaskId, Task> tasks_;
};

}  // namespace gangrun::kubernetes::pods
