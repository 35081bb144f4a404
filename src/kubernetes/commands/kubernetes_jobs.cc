#include "kubernetes/commands/kubernetes_jobs.h"

#include <unistd.h>

#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "client/cluster_session.h"
#include "client/ending_guard.h"
#include "client/far_outputs.h"
#include "client/removal.h"
#include "client/sites.h"
#include "host/ending_signals.h"
#include "kubernetes/commands/cluster_way.h"
#include "kubernetes/commands/jobs_in_cluster.h"
#include "kubernetes/commands/pod_master_job.h"
#include "kubernetes/commands/pod_way.h"
#include "kubernetes/commands/unled_jobs.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Result;

// A line takes so long at most from the master to us, by the API server.
constexpr std::chrono::milliseconds kLinesOnTheirWay(500);

Result<JobsHere> jobs_here(const client::Context& context) {
  GANGRUN_ASSIGN(std::string home, client::home_of(context));
  return JobsHere{
      .home = std::move(home),
      .clock = context.clock,
      .way = [&context](const ClusterRecord& record) { return way_to_cluster(context, record); }};
}

Result<std::unique_ptr<PodMasterJob>> find_in_cluster(const std::string& job,
                                                      const client::Context& context) {
  GANGRUN_ASSIGN(JobsHere here, jobs_here(context));
  return JobsInCluster(std::move(here)).find_job(job);
}

std::vector<cluster::FarFile> files_in(const wire::OutputList& list) {
  std::vector<cluster::FarFile> files;
  for (const wire::KeptOutput& output : list.outputs) {
    files.push_back({.task = output.task,
                     .name = output.name,
                     .bytes = output.bytes,
                     .modified_ms = output.modified_ms,
                     .is_executable = output.is_executable,
                     .is_folder = output.is_folder,
                     .target = output.target});
  }
  return files;
}

// Why nothing can be brought: nothing, where all has been, or there is nothing to bring.
Result<> without_outputs(PodMasterJob& job, const std::string& folder, const base::Error& why) {
  if (why.code != base::Code::kUnavailable || !job.check_has_ended().ok()) return why;
  if (::access(folder.c_str(), F_OK) == 0) return {};
  const auto spec = job.spec();
  if (spec.ok()) {
    bool has_outputs = false;
    for (const job::TaskSpec& task : spec->tasks) {
      const auto& outputs = spec->outputs_of(task);
      has_outputs = has_outputs || (outputs && !outputs->empty());
    }
    if (!has_outputs) return {};
  }
  return base::Error{
      base::Code::kFailedPrecondition,
      base::format("{} has ended, and the outputs that were not fetched went with "
                   "its master ({}); `kubernetes.master.keep` says how long it stays",
                   job.id(), why.message)};
}

class KubernetesJobs final : public client::Jobs {
 public:
  [[nodiscard]] bool has_id(std::string_view job, const client::Context& context) const override {
    const auto home = client::home_of(context);
    return home.ok() && is_in_cluster(*home, job);
  }
  [[nodiscard]] bool are_listed() const override { return true; }
  [[nodiscard]] Result<std::unique_ptr<cluster::Site>> site(
      const client::Context& context) const override {
    GANGRUN_ASSIGN(JobsHere here, jobs_here(context));
    return std::unique_ptr<cluster::Site>(std::make_unique<JobsInCluster>(std::move(here)));
  }
  [[nodiscard]] std::unique_ptr<cluster::Site> with_own(
      const std::string& home, const client::Context& context,
      std::unique_ptr<cluster::Site> others) const override {
    auto jobs = std::make_unique<UnledJobs>(home, std::move(others));
    auto here = jobs_here(context);
    if (!here.ok()) return jobs;
    return std::make_unique<RecordedJobs>(*std::move(here), std::move(jobs));
  }
  [[nodiscard]] Result<std::unique_ptr<client::TaskWay>> way(
      const client::WayInput& input) const override {
    const auto to_pod = [&input](const job::JobSpec& spec) {
      return PodWay::make(input.loop, input.context, spec, input.job, input.task, input.port,
                          input.on_broken);
    };
    if (input.spec != nullptr) return to_pod(*input.spec);
    GANGRUN_ASSIGN(const auto job, find_in_cluster(input.job, input.context));
    GANGRUN_ASSIGN(const job::JobSpec spec, job->spec());
    return to_pod(spec);
  }
  [[nodiscard]] Result<std::vector<client::BroughtRest>> fetch(
      const client::FetchOrder& order, client::Context& context) const override;
  [[nodiscard]] Result<> remove(const client::KeptJob& job,
                                client::Context& context) const override;
  client::ExitStatus attach(const std::string& job, const client::DisplayOptions& display,
                            client::Context& context) const override;
  [[nodiscard]] Result<std::string> ended_job(const std::string& job,
                                              const client::Context& context) const override {
    GANGRUN_ASSIGN(const auto found, find_in_cluster(job, context));
    GANGRUN_TRY(found->check_has_ended());
    return found->id();
  }
};

// A master that has told the end stays for its outputs: those that have come are removed there.
Result<std::vector<client::BroughtRest>> KubernetesJobs::fetch(const client::FetchOrder& order,
                                                               client::Context& context) const {
  std::vector<client::BroughtRest> rests;
  if (order.job.spec != nullptr) return rests;
  GANGRUN_ASSIGN(const auto job, find_in_cluster(order.job.id, context));
  const auto list = job->outputs(client::folder_of_task(order.task));
  if (!list.ok()) {
    GANGRUN_TRY(without_outputs(*job, order.folder, list.error()));
    return rests;
  }
  const auto read = [&job](const cluster::FarFile& file, const cluster::ResultSink& sink) {
    return job->read_output(file, sink);
  };
  GANGRUN_TRY(client::bring(files_in(*list), read, order.folder, order.progress));
  std::set<std::string> tasks;
  for (const wire::KeptOutput& output : list->outputs) tasks.insert(output.task);
  for (const std::string& task : tasks) {
    if (list->is_whole) GANGRUN_TRY(job->remove_outputs(task));
  }
  return rests;
}

// A job that is kept on this machine has left nothing elsewhere.
Result<> KubernetesJobs::remove(const client::KeptJob& job, client::Context& context) const {
  if (job.spec != nullptr) return {};
  GANGRUN_ASSIGN(const auto guard,
                 client::EndingGuard::start({.signals = host::ending_signals(),
                                             .last = 1,
                                             .patience = std::chrono::milliseconds(0),
                                             .gives_back = true}));
  guard->set_words(base::format(
      "interrupted: whether all of {0} is removed is not known; `gangrun rm {0}` goes on", job.id));
  GANGRUN_ASSIGN(const auto found, find_in_cluster(job.id, context));
  return found->remove();
}

client::ExitStatus KubernetesJobs::attach(const std::string& job,
                                          const client::DisplayOptions& display,
                                          client::Context& context) const {
  const auto found = find_in_cluster(job, context);
  const auto find = [id = found.ok() ? (*found)->id() : job,
                     &context]() -> Result<std::unique_ptr<cluster::Job>> {
    GANGRUN_ASSIGN(std::unique_ptr<cluster::Job> again, find_in_cluster(id, context));
    return again;
  };
  client::ClusterJob in_cluster{.id = found.ok() ? (*found)->id() : job,
                                .cluster = "the cluster",
                                .find = find,
                                .last_lines = kLinesOnTheirWay};
  return client::show_cluster_job(std::move(in_cluster), {}, display, context);
}

}  // namespace

std::shared_ptr<const client::Jobs> kubernetes_jobs() {
  return std::make_shared<const KubernetesJobs>();
}

}  // namespace gangrun::kubernetes::commands
