#include "local/commands/local_place.h"

#include <chrono>
#include <utility>

#include "client/agent_program.h"
#include "client/fail.h"
#include "client/run_session.h"
#include "client/sites.h"
#include "local/commands/doctor.h"
#include "local/commands/local_backend.h"
#include "local/commands/machine_checks.h"
#include "local/containment_choice.h"
#include "local/local_rules.h"

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
  return check_hosts_of(spec, options.host);
}

class LocalJobs final : public client::Jobs {
 public:
  [[nodiscard]] bool are_listed() const override { return true; }
  [[nodiscard]] Result<std::unique_ptr<cluster::Site>> site(
      const client::Context& context) const override {
    return client::home_site(context);
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
  return {.rules = local::local_rules(),
          .launch = {.run = run_here, .backend = backend},
          .jobs = std::make_shared<const LocalJobs>(),
          .doctor = doctor};
}

}  // namespace gangrun::local::commands
