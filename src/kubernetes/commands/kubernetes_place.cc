#include "kubernetes/commands/kubernetes_place.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "kubernetes/commands/detached_job.h"
#include "kubernetes/commands/kubernetes_doctor.h"
#include "kubernetes/commands/kubernetes_jobs.h"
#include "kubernetes/commands/kubernetes_run.h"
#include "kubernetes/pods/kubernetes_rules.h"

namespace gangrun::kubernetes::commands {

namespace {

// For mpirun and srun -n is the number of tasks.
base::Error told_of_tasks(const base::Error& error, const client::RunOptions& options) {
  constexpr std::string_view kNamespace = "kubernetes.namespace";
  const auto given = options.flags.job_fields.find(kNamespace);
  if (given == options.flags.job_fields.end() || !given->second) return error;
  // "-np 4" is the namespace "p" and the job file "4".
  const bool is_np =
      *given->second == "p" && base::parse_integer(options.spec_path).value_or(0) > 0;
  if (!is_np && error.message.find(kNamespace) == std::string::npos) return error;
  const auto tasks = base::parse_integer(is_np ? options.spec_path : *given->second);
  if (!tasks || *tasks < 1) return error;
  return base::invalid_argument(base::format(
      "-n{0} {1}: -n is the namespace on Kubernetes; to start {1} tasks, use -r worker:{1}",
      is_np ? "p" : "", *tasks));
}

client::Doctor kubernetes_doctor() {
  const auto options = std::make_shared<ClusterToExamine>();
  return {.examined = "this cluster",
          .subject = "a cluster of Kubernetes",
          .example = "--namespace ml",
          .flags = {{"-n,--namespace", &options->name_space, "NAME",
                     "On Kubernetes: the namespace (default: the context's)"},
                    {"--context", &options->context, "NAME",
                     "On Kubernetes: the context of the kubeconfig"},
                    {"--kubeconfig", &options->kubeconfig, "FILE",
                     "On Kubernetes: the kubeconfig (default: as kubectl finds it)"}},
          .examine = [options](client::Context& context) {
            return look_at_cluster(*options, context);
          }};
}

}  // namespace

client::Place kubernetes_place() {
  const auto run = [](job::JobSpec spec, const client::RunOptions& options,
                      client::Context& context) {
    return run_on_kubernetes({.spec = std::move(spec)}, options, context);
  };
  return {.rules = pods::kubernetes_rules(),
          .launch = {.run = run,
                     .why_no_hosting_flags = "pods do not connect to the master",
                     .check = check_detached,
                     .explain = told_of_tasks},
          .jobs = kubernetes_jobs(),
          .doctor = kubernetes_doctor};
}

}  // namespace gangrun::kubernetes::commands
