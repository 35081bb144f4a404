#include "kubernetes/commands/kubernetes_place.h"

#include <utility>

#include "kubernetes/commands/detached_pods.h"
#include "kubernetes/commands/kubernetes_run.h"
#include "kubernetes/commands/kubernetes_site.h"
#include "kubernetes/commands/pod_way.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/kubernetes_rules.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Result;

class KubernetesPlace final : public client::Place {
 public:
  [[nodiscard]] jobfile::PlaceRules rules() const override { return pods::kubernetes_rules(); }
  [[nodiscard]] std::map<client::RunFlag, std::string_view> refused_flags() const override {
    constexpr std::string_view kNoRegistry = "pods do not connect to the master";
    return {{client::RunFlag::kHost, kNoRegistry}, {client::RunFlag::kServeTls, kNoRegistry}};
  }
  [[nodiscard]] Result<> check(const client::RunOptions& options,
                               const job::JobSpec& spec) const override {
    return options.detach ? check_detached_pods(spec) : Result<>();
  }
  client::ExitStatus run(job::JobSpec spec, const client::RunOptions& options,
                         client::Context& context) const override {
    return run_on_kubernetes({.spec = std::move(spec)}, options, context);
  }
  // Nobody follows the lines of a detached job there but who asks for them.
  [[nodiscard]] std::string_view following_command() const override { return "logs -f"; }

  [[nodiscard]] std::unique_ptr<cluster::Site> with_own_site(
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

std::unique_ptr<client::Place> kubernetes_place() { return std::make_unique<KubernetesPlace>(); }

}  // namespace gangrun::kubernetes::commands
