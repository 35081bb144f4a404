#include "kubernetes/commands/kubernetes_place.h"

#include <utility>

#include "kubernetes/commands/detached_pods.h"
#include "kubernetes/commands/kubernetes_run.h"
#include "kubernetes/commands/kubernetes_site.h"
#include "kubernetes/commands/pod_way.h"
#include "kubernetes/pods/kubernetes_rules.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Result;

class KubernetesJobs final : public client::Jobs {
 public:
  [[nodiscard]] std::unique_ptr<cluster::Site> with_own(
      const std::string& home, const client::Context& context,
      std::unique_ptr<cluster::Site> others) const override {
    return std::make_unique<KubernetesSite>(home, context, std::move(others));
  }
  // Tasks that are pods have no agents.
  [[nodiscard]] Result<std::unique_ptr<client::TaskWay>> way(
      const client::WayInput& input) const override {
    return PodWay::make(input.loop, input.context, *input.spec, input.job, input.task, input.port,
                        input.on_broken);
  }
};

}  // namespace

client::Place kubernetes_place() {
  constexpr std::string_view kNoRegistry = "pods do not connect to the master";
  const auto run = [](job::JobSpec spec, const client::RunOptions& options,
                      client::Context& context) {
    return run_on_kubernetes({.spec = std::move(spec)}, options, context);
  };
  const auto check = [](const client::RunOptions& options, const job::JobSpec& spec) {
    return options.detach ? check_detached_pods(spec) : Result<>();
  };
  return {.rules = pods::kubernetes_rules(),
          .launch = {.run = run,
                     .refused_flags = {{client::RunFlag::kHost, kNoRegistry},
                                       {client::RunFlag::kServeTls, kNoRegistry}},
                     .check = check,
                     // Nobody follows the lines of a detached job there but who asks for them.
                     .following_command = "logs -f"},
          .jobs = std::make_shared<const KubernetesJobs>()};
}

}  // namespace gangrun::kubernetes::commands
