#include "kubernetes/commands/kubernetes_doctor.h"

#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/log.h"
#include "client/default_files.h"
#include "client/ending_guard.h"
#include "client/prepare.h"
#include "client/run_options.h"
#include "host/ending_signals.h"
#include "kubernetes/commands/kubernetes_access.h"
#include "kubernetes/commands/kubernetes_checks.h"
#include "kubernetes/commands/kubernetes_run.h"
#include "kubernetes/commands/master_account.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/rights.h"
#include "kubernetes/pods/where_pods_work.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Result;
using cluster::Check;
using cluster::Verdict;

constexpr std::chrono::seconds kDoctorLimit(15);
// A job needs one; whether there is such an image nobody asks.
constexpr const char* kAnyImage = "image";

// Whether a pod could lead a detached job with the account that is named for it.
Check check_of_master(net::EventLoop& loop, kubernetes::Client& client, const job::JobSpec& spec,
                      base::Instant deadline, const std::function<bool()>& is_cancelled) {
  constexpr const char* kName = "detached jobs";
  const std::string& account = pods::kubernetes_of(spec).master.service_account;
  const AccountVerdict verdict =
      check_account(loop, client, account, pods::master_rights(spec), deadline, is_cancelled);
  if (verdict.is_refused()) {
    return {kName, Verdict::kFailed,
            refusal_of(verdict, account, client.access().name_space).message};
  }
  if (!verdict.is_known) return {kName, Verdict::kNotChecked, verdict.why_unknown};
  return {kName, Verdict::kOk,
          base::format("the service account '{}' has all rights of a job's master", account)};
}

// The API server's answers about the job; `is_whole` becomes false where Ctrl-C ended it.
Result<std::vector<Check>> checks_of_cluster(const job::JobSpec& spec, client::Context& context,
                                             bool& is_whole) {
  net::EventLoop loop;
  bool is_cancelled = false;
  GANGRUN_ASSIGN(const auto guard, client::EndingGuard::start_in(
                                       loop, {.signals = host::ending_signals(),
                                              .on_signal = [&](int) { is_cancelled = true; }}));
  guard->set_words("interrupted: the API server has not answered");
  const auto logger = base::stderr_logger("gangrun", base::LogLevel::kError);
  const auto client = kubernetes_client(loop, *logger, context, pods::kubernetes_of(spec));
  const auto alone = [](Verdict verdict, std::string words) {
    return std::vector<Check>{{"cluster", verdict, std::move(words)}};
  };
  if (!client.ok()) return alone(Verdict::kFailed, client.error().message);
  const auto scheduling =
      check_cluster(loop, **client, spec, pods::client_rights(spec),
                    context.clock.now() + kDoctorLimit, [&is_cancelled] { return is_cancelled; });
  is_whole = !is_cancelled;
  if (is_cancelled) return alone(Verdict::kNotChecked, "it was not waited for");
  if (!scheduling.ok()) return alone(Verdict::kFailed, scheduling.error().message);
  const kubernetes::Access& access = (*client)->access();
  std::vector<Check> checks = alone(
      Verdict::kOk,
      base::format("{} ({}): you have all rights for a job in the namespace '{}'; what "
                   "schedules its pods: {}",
                   access.remote.url, access.source, access.name_space, to_string(*scheduling)));
  if (pods::kubernetes_of(spec).master.service_account.empty()) return checks;
  checks.push_back(check_of_master(loop, **client, spec, context.clock.now() + kDoctorLimit,
                                   [&is_cancelled] { return is_cancelled; }));
  is_whole = !is_cancelled;
  return checks;
}

}  // namespace

Result<job::JobSpec> plain_job(const ClusterToExamine& cluster, const client::Context& context) {
  client::RunOptions options;
  GANGRUN_ASSIGN(options.defaults, client::read_default_files(context));
  options.flags.job_fields = {{"on", std::string(pods::kKubernetes)},
                              {"image", kAnyImage},
                              {"kubernetes.namespace", cluster.name_space},
                              {"kubernetes.context", cluster.context},
                              {"kubernetes.kubeconfig", cluster.kubeconfig}};
  options.flags.roles = {"worker:1"};
  options.flags.command = {"true"};
  return client::read_job(options, context.folder, context.places.rules());
}

Check check_of_agents(const job::JobSpec& spec, const client::Context& context) {
  Check check{"agents", Verdict::kOk, pods::way_of_agents(spec)};
  if (!pods::has_agents(spec)) return check;
  const auto agents = agent_pods(spec, context);
  if (!agents.ok()) return {"agents", Verdict::kFailed, agents.error().message};
  return check;
}

Result<client::Examination> look_at_cluster(const ClusterToExamine& cluster,
                                            client::Context& context) {
  client::Examination examination;
  GANGRUN_ASSIGN(const job::JobSpec spec, plain_job(cluster, context));
  examination.checks.push_back(check_of_agents(spec, context));
  GANGRUN_ASSIGN(std::vector<Check> of_cluster,
                 checks_of_cluster(spec, context, examination.is_whole));
  std::move(of_cluster.begin(), of_cluster.end(), std::back_inserter(examination.checks));
  return examination;
}

}  // namespace gangrun::kubernetes::commands
