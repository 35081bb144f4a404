#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cluster/fetched_files.h"
#include "job/cluster_spec.h"
#include "job/spec.h"
#include "job/task_id.h"
#include "kubernetes/pods/agent_pods.h"
#include "kubernetes/pods/carried_files.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/owner.h"
#include "kubernetes/pods/pod_run.h"
#include "kubernetes/pods/shared_hosts.h"

namespace gangrun::kubernetes::pods {

// Labels of all that belongs to a job, and of its pods.
inline constexpr const char* kJobLabel = "gangrun/job";
inline constexpr const char* kTaskLabel = "gangrun/task";        // "worker-3"
inline constexpr const char* kTypeLabel = "gangrun/type";        // "worker"
inline constexpr const char* kAttemptLabel = "gangrun/attempt";  // of the task's runs
// The number of the master in a pod that has made it.
inline constexpr const char* kMadeByLabel = "gangrun/made-by";
// The folder in which the tasks' commands begin when files with relative paths are carried or
// outputs are kept.
inline constexpr const char* kWorkingFolder = "/gangrun/work";
inline constexpr const char* kTaskContainer = "task";  // unless the job's pod names its own first
// Which of several containers `kubectl logs POD` shows.
inline constexpr const char* kDefaultContainer = "kubectl.kubernetes.io/default-container";
inline constexpr const char* kOutputsContainer = "outputs";
inline constexpr const char* kLeaseOwner = "owner";

// How long a pod is kept for its outputs by its client; without one, the owner's deadline ends it.
inline constexpr std::chrono::minutes kOutputsLimit{10};

// Names that a job has instead of ours; tf-spawner's are documented.
struct ManifestNames {
  std::map<job::TaskId, std::string> pods;
  bool has_service_per_task = false;  // of the pod's name; else one headless service for all
  std::string tasks_label{};          // of all but pods that are no task's, by its key; empty: none
  std::string script_config_map{};    // of the first carried file, by its own name; empty: ours
  std::uint16_t first_port = 2222;    // of every task; its others follow
  // The template of the services per task: names, ports' numbers and selectors (app=NAME of the
  // pod) are put in. Null: nothing. Its metadata, if any, is a mapping, and so are labels in it.
  base::Json service_template{};
};

struct ManifestInput {
  job::JobSpec spec;  // validated, `on` Kubernetes
  std::string job_id;
  std::string name_space;
  // Decided, not kAuto.
  GangScheduling gang_scheduling = GangScheduling::kHold;
  std::vector<CarriedFile> files;
  ManifestNames names;
  // None: the pods run the tasks' commands themselves.
  std::optional<AgentPods> agents{};
  // The agents fetch these beside `files`; null: nothing.
  std::shared_ptr<const cluster::FetchedFiles> fetched{};
};

// Whether the pods' containers have the tasks' variables. Agents make them, and need none; but who
// has names of their own for the pods looks for them there.
inline bool shows_variables(const ManifestInput& input) {
  return !input.agents || input.names.has_service_per_task;
}

// The objects of a job that one side makes: a master in a pod makes the agents' Secret by itself,
// and the client all others.
enum class ObjectsOf { kAll, kClient, kMaster };

// Every object that a job is made of, as the API server takes it (apiVersion, kind, metadata with
// labels, spec). Pure and the same for the same input.
class Manifests {
 public:
  // Refuses a name that is too long, a template that is not a pod or lacks the container, and files
  // that are too many or too large together: kInvalidArgument with field, value, what is allowed.
  static base::Result<Manifests> make(ManifestInput input);

  [[nodiscard]] const ManifestInput& input() const { return input_; }
  // Some of it is known only later.
  [[nodiscard]] AgentPods& agents() { return *input_.agents; }
  [[nodiscard]] std::string pod_name(const job::TaskId& task) const;
  [[nodiscard]] job::Address address_of(const job::TaskId& task) const;
  [[nodiscard]] std::vector<std::uint16_t> more_ports_of(const job::TaskId& task) const;
  // The container that runs the task's command.
  [[nodiscard]] std::string container_of(const job::TaskId& task) const;
  // The ports at which its agent may hear of its master.
  [[nodiscard]] std::vector<std::uint16_t> hint_ports_of(const job::TaskId& task) const;
  // Whether its pod has a container that keeps them when the command has ended.
  [[nodiscard]] std::vector<std::string> outputs_of(const job::TaskId& task) const;

  // A Job that runs nothing (parallelism 0), whose deadline its client keeps moving and after which
  // the garbage collector removes all that names it as owner.
  [[nodiscard]] base::Json owner(std::chrono::seconds lease) const;
  // In the order in which they are made before any pod: secrets, config maps, services, what the
  // gang's scheduling needs.
  [[nodiscard]] std::vector<base::Json> objects(const Owner& owner,
                                                ObjectsOf of = ObjectsOf::kAll) const;
  // The pod of one run of a task: the user's template with what the job says over it. Its container
  // of outputs waits until it is told to end, at most as long as the job may last: it cannot see
  // when the task's has ended, and where no client tells it the owner's deadline does.
  // (pod_manifest.cc)
  [[nodiscard]] base::Json pod(const job::TaskId& task, const PodRun& run,
                               const Owner& owner) const;
  // The pod of one run of the relay, where the job has agents. It goes where its first task may.
  [[nodiscard]] base::Json relay(const PodRun& run, const Owner& owner) const;
  // The template of the master's pod, without what only that needs (master_pod.h).
  [[nodiscard]] base::Json master_template() const;

 private:
  Manifests(ManifestInput input, CarriedLayout layout)
      : input_(std::move(input)), layout_(std::move(layout)), hosts_(shared_hosts(input_)) {}

  ManifestInput input_;
  CarriedLayout layout_;
  std::vector<SharedHosts> hosts_;
};

// `text` so that Kubernetes, which replaces $(NAME) in commands and variables, leaves it as it is.
std::string without_references(std::string_view text);

// The collection of an object of ours: "/api/v1/namespaces/NS/pods"; empty for any other kind.
std::string collection_path(const base::Json& object, const std::string& name_space);

}  // namespace gangrun::kubernetes::pods
