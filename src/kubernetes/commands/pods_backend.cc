#include "kubernetes/commands/pods_backend.h"

#include <optional>
#include <random>
#include <utility>

#include "base/format.h"
#include "kubernetes/commands/kubernetes_access.h"
#include "kubernetes/commands/kubernetes_checks.h"
#include "kubernetes/commands/unpacking.h"
#include "kubernetes/pods/agent_files.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/kubernetes_tasks.h"
#include "kubernetes/pods/pod_launcher.h"
#include "kubernetes/pods/rights.h"
#include "kubernetes/pods/where_pods_work.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Result;

// The time that the API server may take to answer the questions before a start.
constexpr std::chrono::seconds kAnswersLimit(15);
// The time that it may take to take all away after the end.
constexpr std::chrono::seconds kClearLimit(120);
// After so long, people are told that it takes time.
constexpr std::chrono::seconds kClearTold(5);

double random_share() {
  thread_local std::mt19937_64 engine{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(engine);
}

}  // namespace

Result<> PodsBackend::reach(net::EventLoop& loop, const base::Clock& clock,
                            const job::JobSpec& spec, const std::function<bool()>& is_cancelled) {
  logger_ = base::stderr_logger("gangrun", base::LogLevel::kError);
  GANGRUN_ASSIGN(client_, kubernetes::Client::make(loop, *logger_, access_, plugin_runner()));
  GANGRUN_ASSIGN(manifests_.gang_scheduling,
                 check_cluster(loop, *client_, spec, pods::client_rights(spec),
                               clock.now() + kAnswersLimit, is_cancelled));
  return {};
}

// Pods end with their master's lease, whatever the job says of it. Until then agents look for it:
// the connection to their relay may break.
std::chrono::milliseconds PodsBackend::master_lost(const job::JobSpec& spec,
                                                   bool /*tasks_outlive_us*/) const {
  return pods::has_agents(spec) ? pods::kClientLease : std::chrono::milliseconds(0);
}

Result<host::MadeTasks> PodsBackend::make_tasks(const host::BackendInput& input) {
  pods::ManifestInput own = manifests_;
  own.job_id = input.folder.id();
  job_id_ = own.job_id;
  GANGRUN_ASSIGN(auto manifests, pods::Manifests::make(std::move(own)));
  std::vector<std::string> remarks = host::remarks_of(input.launch);
  remarks.push_back(pods::where_pods_work(manifests));
  remarks.push_back(pods::way_of_agents(manifests.input().spec));
  if (manifests_.fetched) remarks.push_back(pods::how_files_come(manifests_));
  host::MadeTasks made = manifests.input().agents ? make_agents(input, std::move(manifests))
                                                  : make_pods(input, std::move(manifests));
  made.remarks = std::move(remarks);
  return made;
}

host::MadeTasks PodsBackend::make_pods(const host::BackendInput& input, pods::Manifests manifests) {
  const host::JobPaths& paths = input.folder.paths();
  auto pods = std::make_unique<pods::KubernetesTasks>(
      input.ground.loop, input.ground.logger, *client_, std::move(manifests),
      pods::KubernetesTasks::Options{.log_folder = paths.logs(),
                                     .output_folder = paths.outputs(),
                                     .unpack = unpack_tar,
                                     .random = random_share});
  pods_ = Pods{.clear = [tasks = pods.get()](auto done) { tasks->clear(std::move(done)); },
               .left = [tasks = pods.get()] { return tasks->left(); }};
  return {.tasks = std::move(pods)};
}

host::MadeTasks PodsBackend::make_agents(const host::BackendInput& input,
                                         pods::Manifests manifests) {
  auto launcher = std::make_unique<pods::PodLauncher>(
      input.ground.loop, input.ground.logger, *client_, std::move(manifests),
      pods::PodLauncher::Options{
          .random = random_share,
          .master_attempt = input.ground.attempt,
          .is_checked = [this](const std::string& uid) { return checked_maps_.has(uid); },
          .on_checked = [this](const std::string& name,
                               const std::string& uid) { checked_maps_.add(name, uid); }});
  pods_ = Pods{.clear = [pods = launcher.get()](auto done) { pods->clear(std::move(done)); },
               .left = [pods = launcher.get()] { return pods->left(); }};
  agents::AgentsOptions options = host::agents_by_tls(input);
  options.launch.lines = agents::LinesFor::kLogFolder;
  options.records.output_folder = input.folder.paths().outputs();
  options.keep_outputs = true;
  options.files = manifests_.fetched;
  return {.tasks = std::make_unique<agents::Agents>(input.ground.loop, input.ground.clock,
                                                    input.ground.logger, input.ground.server,
                                                    std::move(launcher), std::move(options)),
          .come_by_tls = true};
}

void PodsBackend::hurry(net::EventLoop& loop) {
  if (client_ == nullptr || std::exchange(is_asked_, true)) return;
  question_ = client_->request({.path = "/version", .patience = kAnswersLimit},
                               loop.now() + kAnswersLimit, [this](const ApiAnswer& answer) {
                                 has_answered_ = answer.object.ok() || answer.refusal.has_value();
                               });
}

std::string PodsBackend::silent() const {
  if (!pods_ || !is_asked_ || has_answered_) return {};
  return base::format(
      "the API server at {0} does not answer: pods of the job may still run in the namespace {1}. "
      "They are ended within {2} once it answers, and have {3} to stop; `kubectl -n {1} delete "
      "pods -l {4} --now` ends them at once",
      client_->access().remote.url, client_->access().name_space,
      base::to_words(pods::kClientLease), base::to_words(manifests_.spec.timeouts.stop),
      pods::job_selector(job_id_));
}

Result<> PodsBackend::clear(net::EventLoop& loop,
                            const std::function<void(const std::string&)>& tell,
                            const std::function<bool()>& is_left) {
  if (!pods_) return {};
  // It may be told after the limit too.
  const auto cleared = std::make_shared<std::optional<Result<>>>();
  pods_->clear([cleared](Result<> done) { cleared->emplace(std::move(done)); });
  const auto is_over = [&] { return cleared->has_value() || is_left(); };
  const base::Instant limit = loop.now() + kClearLimit;
  if (!loop.run_until(is_over, loop.now() + kClearTold)) {
    tell(
        base::format("waiting for the end of the job's objects on the cluster: {}", pods_->left()));
    (void)loop.run_until(is_over, limit);
  }
  Result<> how =
      cleared->value_or(base::deadline_exceeded("the API server does not say that they are gone"));
  return std::move(how).context("some objects of the job are still on the cluster");
}

}  // namespace gangrun::kubernetes::commands
