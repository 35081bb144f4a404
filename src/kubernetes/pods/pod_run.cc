#include "kubernetes/pods/pod_run.h"

#include <utility>

#include "frameworks/environment.h"
#include "kubernetes/pods/manifests.h"

namespace gangrun::kubernetes::pods {

base::Result<std::map<std::string, std::string>> pod_variables(const Manifests& manifests,
                                                               const job::ClusterSpec& cluster_spec,
                                                               const job::TaskId& task,
                                                               int restarts) {
  const job::JobSpec& spec = manifests.input().spec;
  const frameworks::Inputs inputs{.job = spec,
                                  .cluster = cluster_spec,
                                  .job_id = manifests.input().job_id,
                                  .restarts = restarts,
                                  .cluster_spec_file = "nowhere",
                                  .notice_file = kPodNoticeFile,
                                  .own_address = manifests.address_of(task),
                                  .more_ports = manifests.more_ports_of(task)};
  GANGRUN_ASSIGN(auto made, frameworks::environment_of(inputs, task, 0));
  // There is no file of ours in an image: it has the spec for as long as a variable can.
  const std::string variable = "GANGRUN_CLUSTER_SPEC";
  std::string& content = made.cluster_spec_file_content;
  if (!content.empty()) {
    made.variables.erase("GANGRUN_CLUSTER_SPEC_FILE");
    if (frameworks::fits_in_variable(variable, content)) {
      made.variables[variable] = std::move(content);
    }
  }
  for (const auto* users : {&spec.environment, &spec.find(task.type)->environment}) {
    for (const auto& [name, value] : *users) {
      if (!frameworks::is_reserved(name)) made.variables[name] = value;
    }
  }
  return std::move(made.variables);
}

job::ClusterSpec cluster_of_names(const Manifests& manifests) {
  const job::JobSpec& spec = manifests.input().spec;
  job::ClusterSpec cluster;
  cluster.generation = 1;
  for (const job::TaskSpec& task : spec.tasks) {
    if (job::effective_policy(spec, task) == job::Policy::kSidecar) continue;
    for (int index = 0; index < task.instances; ++index) {
      cluster.tasks[task.type].push_back(manifests.address_of({task.type, index}));
    }
  }
  return cluster;
}

std::map<std::string, std::string> shown_variables(const Manifests& manifests,
                                                   const job::TaskId& task) {
  if (!shows_variables(manifests.input())) return {};
  auto variables = pod_variables(manifests, cluster_of_names(manifests), task, 0);
  return variables.ok() ? *std::move(variables) : std::map<std::string, std::string>();
}

}  // namespace gangrun::kubernetes::pods
