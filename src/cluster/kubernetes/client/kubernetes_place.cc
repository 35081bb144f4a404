#include "cluster/kubernetes/client/kubernetes_place.h"

#include <utility>

#include "cluster/kubernetes/client/detached_pods.h"
#include "cluster/kubernetes/client/kubernetes_run.h"
#include "cluster/kubernetes/client/kubernetes_site.h"
#include "cluster/kubernetes/client/pod_way.h"
#include "cluster/kubernetes/kubernetes_options.h"
#include "cluster/kubernetes/kubernetes_rules.h"

namespace gangrun::client {

namespace {

using base::Result;

class KubernetesPlace final : public Place {
 public:
  [[nodiscard]] job::Place rules() const override { return cluster::kubernetes_place(); }
  [[nodiscard]] std::map<RunFlag, std::string_view> refused_flags() const override {
    constexpr std::string_view kNoRegistry = "pods do not connect to the master";
    return {{RunFlag::kHost, kNoRegistry}, {RunFlag::kServeTls, kNoRegistry}};
  }
  [[nodiscard]] Result<> check(const RunOptions& options, const job::JobSpec& spec) const override {
    return options.detach ? check_detached_pods(spec) : Result<>();
  }
  ExitStatus run(job::JobSpec spec, const RunOptions& options, Context& context) const override {
    return run_on_kubernetes({.spec = std::move(spec)}, options, context);
  }
  // Nobody follows the lines of a detached job there but who asks for them.
  [[nodiscard]] std::string_view following_command() const override { return "logs -f"; }

  [[nodiscard]] std::unique_ptr<cluster::Site> with_own_site(
      const std::string& home, const Context& context,
      std::unique_ptr<cluster::Site> others) const override {
    return std::make_unique<KubernetesSite>(home, context, std::move(others));
  }
  // Tasks that are pods have no agents.
  [[nodiscard]] Result<std::unique_ptr<TaskWay>> way(const WayInput& input) const override {
    return PodWay::make(input.loop, input.context, *input.spec, input.job, input.task, input.port,
                        input.on_broken);
  }
};

}  // namespace

std::unique_ptr<Place> kubernetes_place() { return std::make_unique<KubernetesPlace>(); }

}  // namespace gangrun::client
