#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "job/choice.h"
#include "job/spec.h"
#include "jobfile/section.h"

namespace gangrun::kubernetes::pods {

// The value of `on` for Kubernetes.
inline constexpr std::string_view kKubernetes = "kubernetes";

// The way in which the pods of a job are scheduled all or none: what the cluster has, or one of
// these, or being held back until all have a node.
enum class GangScheduling { kAuto, kKueue, kVolcano, kWorkload, kHold };
constexpr auto choice_of(GangScheduling) {
  using enum GangScheduling;
  return job::choice<GangScheduling>("what schedules a gang", {{kAuto, "auto"},
                                                               {kKueue, "kueue"},
                                                               {kVolcano, "volcano"},
                                                               {kWorkload, "workload"},
                                                               {kHold, "hold"}});
}
inline std::string_view to_string(GangScheduling scheduling) { return job::to_string(scheduling); }

// The way in which agents come into the pods, one beside each task's command.
enum class AgentsBy { kNone, kConfigMaps, kImage };
constexpr auto choice_of(AgentsBy) {
  using enum AgentsBy;
  return job::choice<AgentsBy>("a way for agents",
                               {{kNone, "none"}, {kConfigMaps, "config_maps"}, {kImage, "image"}});
}
inline std::string_view to_string(AgentsBy by) { return job::to_string(by); }
inline constexpr AgentsBy kAgentsByDefault = AgentsBy::kConfigMaps;

// The master of a detached job, which is a pod of its own.
struct MasterOptions {
  std::string service_account{};          // with which it makes the tasks' pods
  job::Resources resources{.vcores = 0};  // memory and vcores; 0: what the job's size says
  std::optional<std::chrono::milliseconds> keep{};  // none: kMasterKeep

  friend bool operator==(const MasterOptions&, const MasterOptions&) = default;
};

// A folder of a volume, in which the master keeps its records and its tasks' outputs; with neither
// claim nor volume, its records are in config maps (journal_volume.h).
struct JournalOptions {
  std::string claim{};   // a persistent volume claim
  std::string volume{};  // or one of the job's own volumes
  std::string path{};    // of a folder in it; empty: its root

  friend bool operator==(const JournalOptions&, const JournalOptions&) = default;
};

// How long it stays after the job's end, for those who ask and fetch.
inline constexpr std::chrono::hours kMasterKeep{1};

// The settings of a job that only Kubernetes has, beside its tasks.
struct KubernetesOptions {
  std::string kubeconfig;  // a file on the client's machine; empty: as kubectl finds it
  std::string context;     // empty: the current one
  bool insecure = false;   // whether a kubeconfig may say that the server is not verified
  std::string name_space;  // empty: that of the context
  std::string service_account;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::map<std::string, std::string> node_selector;
  // As a pod has them.
  std::vector<base::Json> tolerations;
  std::vector<base::Json> volumes;
  std::vector<base::Json> volume_mounts;
  std::vector<std::string> image_pull_secrets;
  // "Always", "IfNotPresent", "Never"; empty: what Kubernetes decides.
  std::string image_pull_policy;
  std::string priority_class;
  std::string queue;  // of Kueue or Volcano
  GangScheduling gang_scheduling = GangScheduling::kAuto;
  base::Json pod;                  // a pod, or a part of one, for all tasks; null: none
  std::optional<AgentsBy> agents;  // none: agents_by() decides
  std::string agent_image;         // that brings agents
  int vcores_limit = 0;            // of each container; 0: none
  std::string helper_image;  // of the container that keeps a task's outputs; empty: the task's own
  MasterOptions master;
  job::Resources relay{.vcores = 0};  // memory and vcores of its pod; 0: as much as it needs
  JournalOptions journal;

  static constexpr std::string_view kKey = kKubernetes;
  static const jobfile::Section& section();

  friend bool operator==(const KubernetesOptions&, const KubernetesOptions&) = default;
};

inline const KubernetesOptions& kubernetes_of(const job::JobSpec& job) {
  return job.sections.get<KubernetesOptions>();
}
// The way that the job names for its agents. If it names none, they come by the image that is named
// for them, else by the default.
AgentsBy agents_by(const job::JobSpec& job);
inline bool has_agents(const job::JobSpec& job) { return agents_by(job) != AgentsBy::kNone; }
inline std::chrono::milliseconds master_keep(const job::JobSpec& job) {
  return kubernetes_of(job).master.keep.value_or(kMasterKeep);
}
inline KubernetesOptions& edit_kubernetes(job::JobSpec& job) {
  return job.sections.edit<KubernetesOptions>();
}

// The job as its gang sees it. While it takes a task to be in its roll call, the task's container
// may still have to be started, image and all, which may take as long as an allocation. If there is
// an agent in it, the gang has been told before that all have nodes; if not, it waits for them too.
job::JobSpec with_time_for_pods(job::JobSpec job);

}  // namespace gangrun::kubernetes::pods
