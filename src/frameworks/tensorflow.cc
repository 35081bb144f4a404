#include <algorithm>
#include <map>
#include <string>

#include "base/format.h"
#include "base/json.h"
#include "frameworks/variables_of.h"
#include "job/addresses.h"
#include "job/units.h"

namespace gangrun::frameworks {

namespace {

std::string hosts_variable(const std::string& type) {
  return base::format("DTF_{}_HOSTS", job::in_variable(type));
}

}  // namespace

Variables tensorflow_variables(const Place& place) {
  if (place.policy == job::Policy::kSidecar) return {};
  const auto& tasks = place.inputs.job.tasks;
  const bool trains = std::any_of(tasks.begin(), tasks.end(), [](const job::TaskSpec& task) {
    return task.policy == job::Policy::kTracked;
  });
  const bool one_process_each = std::all_of(place.visible.begin(), place.visible.end(),
                                            [](const Group& g) { return g.spec->processes == 1; });
  if (!trains || !one_process_each) return {};
  // No "environment": with the value "google", Estimator would not start its server.
  const base::Json task{{"type", place.task.type}, {"index", place.task.index}};
  return {{"TF_CONFIG", base::format(R"({{"cluster":{},"task":{}}})", json_of(place.visible),
                                     base::dump_json(task))}};
}

Variables ytf_submit_variables(const Place& place) {
  Variables variables{{"DTF_TASK_JOB_NAME", place.task.type},
                      {"DTF_TASK_INDEX", base::format("{}", place.task.index)}};
  std::map<std::string, int> uses;
  for (const Group& group : place.visible) ++uses[hosts_variable(group.spec->type)];
  for (const Group& group : place.visible) {
    const std::string name = hosts_variable(group.spec->type);
    // Two types that differ in case or in '-' only: better no list than one of the wrong tasks.
    if (uses[name] == 1) variables[name] = job::comma_separated(*group.addresses);
  }
  return variables;
}

Variables tf_spawner_variables(const Place& place) {
  if (place.task.type != "worker") return {};
  for (const Group& group : place.visible) {
    if (group.spec->type != "worker") continue;
    return {{"WORKER_NUMBER", base::format("{}", place.task.index)},
            {"TOT_WORKERS", base::format("{}", group.addresses->size())}};
  }
  return {};
}

}  // namespace gangrun::frameworks
