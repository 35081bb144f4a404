#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/launcher.h"
#include "cluster/tasks.h"
#include "job/cluster_spec.h"
#include "job/ends.h"
#include "job/task_id.h"

namespace gangrun::kubernetes::pods {

class Manifests;

// The file in which a command finds its notice when it has one, in a folder that its user can write
// to.
inline constexpr const char* kPodNoticeFile = "/gangrun/notice/notice.json";

// One run of a task's command, which is a pod's.
struct PodRun {
  int attempt = 0;  // of the task's runs; an event of another one is late
  int generation = 0;
  // Makes all that the command is to find. Asked when a run is to begin: of a large gang it would
  // be too much to be kept for every task, as each is told of all.
  std::function<std::map<std::string, std::string>()> environment;
  std::vector<std::string> avoided{};  // nodes that are no place for it while there is another
};

// The variables of a task's run, as no agent makes them: those of the frameworks, then what the
// user set; but GANGRUN_* are ours. A cluster spec that no variable can hold is left out.
base::Result<std::map<std::string, std::string>> pod_variables(const Manifests& manifests,
                                                               const job::ClusterSpec& cluster_spec,
                                                               const job::TaskId& task,
                                                               int restarts);

// The cluster spec where the tasks' names alone make it, so that it is known before any pod is.
job::ClusterSpec cluster_of_names(const Manifests& manifests);
// The variables of a task as they stand in its pod beside an agent, which makes them again; empty:
// they do not stand there, or there are too many, which the agent tells.
std::map<std::string, std::string> shown_variables(const Manifests& manifests,
                                                   const job::TaskId& task);

// The command runs.
struct RunStarted {
  job::TaskId task;
  int attempt = 0;
  std::string host;
};

struct RunLine {
  job::TaskId task;
  std::string text;                      // without the line's end
  std::optional<base::WallTime> time{};  // as the API server has it
};

// Every slot's end is told, and all lines of a run before its end.
using PodEvent = std::variant<cluster::AgentAllocated, cluster::PreemptionNotice,
                              cluster::LossesTold, job::AgentEnded, gang::ClusterGone, RunStarted,
                              RunLine, job::Exited, cluster::TasksWarning>;

}  // namespace gangrun::kubernetes::pods
