#include "local/commands/local_place.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/format.h"
#include "client/agent_program.h"
#include "client/fail.h"
#include "client/run_session.h"
#include "client/sites.h"
#include "host/backend.h"
#include "jobfile/place_rules.h"
#include "local/commands/doctor.h"
#include "local/commands/machine_checks.h"
#include "local/gpu_locks.h"
#include "local/local_launcher.h"
#include "local/this_machine.h"
#include "net/hosts.h"

namespace gangrun::local::commands {

namespace {

using base::Result;

// The time that the container engine may take to tell which images it has.
constexpr std::chrono::seconds kImagesTimeout(20);

// Requests are compared with the machine, and tasks start without limits.
constexpr std::string_view kNotEnforced =
    "memory and vcores: the job starts only if this machine has enough, but a running task can "
    "use more";

Result<> check_machine(const job::JobSpec& spec, const client::RunOptions& options,
                       const job::Gpus& gpus, const client::Context& context) {
  GANGRUN_ASSIGN(const std::string home, client::home_of(context));
  GANGRUN_TRY(check_on_this_machine(spec, this_machine(gpus), context.environment, context.folder));
  GANGRUN_TRY(check_images_of(spec, context.environment, {context.folder, home},
                              context.clock.now() + kImagesTimeout));
  return check_hosts_of(spec, options.value_of_place(client::kHostFlag));
}

// The parts of a job that this machine takes, whatever it has.
jobfile::PlaceRules local_rules() {
  using jobfile::Feature;
  return {.name = std::string(kLocal),
          .words = "this machine",
          .reference = "`local` (this machine)",
          .features = {Feature::kRestarts, Feature::kFiles, Feature::kImages, Feature::kGpus,
                       Feature::kSpares, Feature::kSmallerGangs, Feature::kHosts},
          // Tasks work in the caller's folder: all is in place already.
          .passed_over = {Feature::kOutputs, Feature::kKeptFolders},
          // A file for a cluster can be tried here.
          .without_use = {Feature::kLabels, Feature::kOnePerNode},
          .is_beside_master = true};
}

class LocalJobs final : public client::Jobs {
 public:
  [[nodiscard]] bool are_listed() const override { return true; }
  [[nodiscard]] Result<std::unique_ptr<cluster::Site>> site(
      const client::Context& context) const override {
    return client::home_site(context);
  }
};

// Tasks that outlive their master, or have a network between them and it, go on alone for so long
// by default.
constexpr std::chrono::seconds kDefaultMasterLost(60);

Result<local::LocalLauncher::Options> cluster_options(const host::BackendInput& input) {
  local::LocalLauncher::Options result;
  result.agent_program = input.launch.agent_program;
  result.host = input.launch.host;
  result.gpus = input.launch.gpus;
  if (!input.launch.gpus.list.empty()) {
    GANGRUN_ASSIGN(result.gpu_lock_folder, local::gpu_lock_folder());
  }
  result.agent_log = input.folder.paths().master_log();
  result.job_id = input.folder.id();
  result.containment = input.launch.containment;
  result.agents_outlive_us = input.tasks_outlive_us;
  result.starter_socket = input.folder.paths().starter_socket();
  result.hosts = input.spec.hosts;
  result.interface = input.spec.interface;
  const std::string& host = input.launch.host;
  if (!net::is_loopback_address(host)) result.master_address = host;
  return result;
}

// The tasks run on this machine, beside their master.
class LocalBackend final : public host::Backend {
 public:
  [[nodiscard]] std::chrono::milliseconds master_lost(const job::JobSpec& spec,
                                                      bool tasks_outlive_us) const override {
    const bool go_on = tasks_outlive_us || !spec.hosts.empty();
    return go_on ? kDefaultMasterLost : std::chrono::milliseconds(0);
  }
  Result<host::MadeTasks> make_tasks(const host::BackendInput& input) override {
    GANGRUN_ASSIGN(auto cluster, cluster_options(input));
    const bool by_tls = !input.spec.hosts.empty();
    const host::Ground& ground = input.ground;
    return host::MadeTasks{
        .tasks = std::make_unique<agents::Agents>(
            ground.loop, ground.clock, ground.logger, ground.server,
            std::make_unique<local::LocalLauncher>(ground.loop, std::move(cluster)),
            by_tls ? host::agents_by_tls(input) : host::agents_options(input)),
        .come_by_tls = by_tls,
        .remarks = host::remarks_of(input.launch)};
  }
};

std::unique_ptr<host::Backend> backend() { return std::make_unique<LocalBackend>(); }

client::ExitStatus run_here(job::JobSpec spec, const client::RunOptions& options,
                            client::Context& context) {
  // The driver is asked only where it matters: that may take it seconds.
  job::Gpus gpus;
  if (job::asks_for_gpus(spec)) gpus = gpus_of_this_machine(context);
  const auto fits = check_machine(spec, options, gpus, context);
  if (!fits.ok()) return client::fail(context, fits.error(), client::ExitStatus::kBadInput);
  auto plan = client::hosted_plan(std::move(spec), options, context);
  if (!plan.ok()) return client::fail(context, plan.error(), client::ExitStatus::kBadInput);
  plan->launch.gpus = std::move(gpus);
  const auto containment = local::choose_containment(plan->spec.containment);
  if (!containment.ok())
    return client::fail(context, containment.error(), client::ExitStatus::kCouldNotStart);
  plan->launch.containment = *containment;
  if (asks_for_memory_or_cores(plan->spec)) {
    plan->more.emplace_back("not enforced", std::string(kNotEnforced));
  }
  if (const std::string remark = outputs_remark(plan->spec); !remark.empty()) {
    plan->where_tasks_work = base::format("{}; {}", context.folder, remark);
    std::string& all = plan->launch.remark;
    all += base::format("{}{}", all.empty() ? "" : "; ", remark);
  }
  if (options.dry_run) return client::show_plan(*plan, options, context);
  auto agent = client::find_agent_of_this_version(context);
  if (!agent.ok()) return client::fail(context, agent.error(), client::ExitStatus::kCouldNotStart);
  plan->launch.agent_program = std::move(*agent);
  if (options.detach) return client::run_detached(*plan, options, context);
  plan->backend = backend();
  return client::run_job(*std::move(plan), options, context);
}

}  // namespace

client::Place local_place() {
  const auto doctor = [] {
    return client::Doctor{.examined = "this machine", .examine = [](client::Context& context) {
                            return client::Examination{.checks = check_this_machine(context)};
                          }};
  };
  return {.rules = local_rules(),
          .launch = {.run = run_here, .backend = backend, .own_flags = client::hosting_flags()},
          .jobs = std::make_shared<const LocalJobs>(),
          .doctor = doctor};
}

}  // namespace gangrun::local::commands
