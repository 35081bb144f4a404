#include "ssh/commands/ssh_place.h"

#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "client/agent_program.h"
#include "client/fail.h"
#include "client/prepare.h"
#include "client/run_session.h"
#include "jobfile/hosts.h"
#include "jobfile/validate.h"
#include "ssh/commands/ssh_backend.h"
#include "ssh/commands/ssh_doctor.h"
#include "ssh/commands/ssh_removal.h"
#include "ssh/commands/ssh_rests.h"
#include "ssh/commands/ssh_way.h"
#include "ssh/host_lists.h"
#include "ssh/ssh_options.h"
#include "ssh/where_tasks_work.h"

namespace gangrun::ssh::commands {

namespace {

using base::Result;

constexpr std::size_t kMaxHostfileBytes = std::size_t{1} << 20U;

// Finds the hosts of the job, and returns where they are from: a file, or the batch system in whose
// job we are. Empty: from the job itself.
Result<std::string> find_hosts(job::JobSpec& spec, const client::Context& context) {
  if (!spec.hosts.empty()) return std::string();
  const auto read = [](const std::string& path) {
    return base::read_input(path, kMaxHostfileBytes);
  };
  const std::string& hostfile = ssh::ssh_of(spec).hostfile;
  std::string source;
  if (!hostfile.empty()) {
    auto text = read(client::in_folder(context.folder, hostfile));
    if (!text.ok()) return client::as_bad_input(text.error().context("hostfile"));
    GANGRUN_ASSIGN(spec.hosts,
                   ssh::hosts_of_file(*text).context(base::format("hostfile {}", hostfile)));
    source = hostfile;
  } else {
    auto batch = ssh::hosts_of_batch_system(context.environment, read);
    if (!batch.ok()) return client::as_bad_input(batch.error());
    if (!*batch) {
      return base::invalid_argument(
          "hosts: none are named; allowed: --hosts NAME[:SLOTS],…, --hostfile FILE, or a job of "
          "Slurm, PBS or LSF, whose hosts are taken");
    }
    spec.hosts = std::move((*batch)->hosts);
    source = (*batch)->source;
  }
  return source;
}

// A user who names hosts but no tasks wants one task for each slot, as launchers of MPI have it; a
// host without a number has one.
void fill_slots(job::JobSpec& spec, const client::RunOptions& options) {
  const bool has_numbers = !options.spec_path.empty() || !options.flags.roles.empty();
  if (has_numbers || spec.tasks.size() != 1) return;
  int slots = 0;
  for (const job::Host& host : spec.hosts) slots += host.slots.value_or(1);
  spec.tasks.front().instances = slots - spec.tasks.front().spares;
}

class SshJobs final : public client::Jobs {
 public:
  [[nodiscard]] Result<std::unique_ptr<client::TaskWay>> way(
      const client::WayInput& input) const override {
    const job::JobSpec& spec = *input.spec;
    std::vector<std::string> hosts;
    for (const job::Host& host : spec.hosts) hosts.push_back(host.name);
    // The job's file names it by an absolute path.
    return std::unique_ptr<client::TaskWay>(std::make_unique<SshWay>(
        input.loop, std::move(hosts), ssh::ssh_of(spec).config, input.port, input.on_broken));
  }

  [[nodiscard]] Result<std::vector<client::BroughtRest>> fetch(
      const client::FetchOrder& request, client::Context& context) const override {
    return bring_rests(*request.job.spec, *request.job.paths, request.task, request.progress,
                       context);
  }
  [[nodiscard]] Result<> remove(const client::KeptJob& job,
                                client::Context& context) const override {
    return remove_from_hosts(*job.spec, job.id, job.paths->hosts(), context);
  }
};

// Which hosts `doctor` looks at.
struct HostsToExamine {
  std::vector<std::string> hosts;  // "h1:2,h2:2", as `run` takes them
  std::optional<std::string> hostfile;
  std::optional<std::string> ssh_config;
};

// The hosts of a job that has one task: what is wrong with them is wrong with those of a job.
Result<client::Examination> examine(const HostsToExamine& options, client::Context& context) {
  job::JobSpec spec;
  spec.on = ssh::kSsh;
  ssh::SshOptions& own = ssh::edit_ssh(spec);
  own.hostfile = options.hostfile.value_or("");
  if (options.ssh_config) own.config = client::in_folder(context.folder, *options.ssh_config);
  std::vector<std::string> names;
  for (const std::string& given : options.hosts) {
    for (std::string& name : base::split(given, ',')) names.push_back(std::move(name));
  }
  if (!names.empty() && options.hostfile) {
    return base::invalid_argument("--hostfile is not allowed beside --hosts; allowed: one of them");
  }
  if (!names.empty()) {
    GANGRUN_ASSIGN(spec.hosts, jobfile::hosts_from(names).context("--hosts"));
  }
  GANGRUN_TRY(find_hosts(spec, context));
  job::TaskSpec task;
  task.type = "worker";
  task.command.words = {"true"};
  spec.name = "doctor";
  spec.success = "all";
  spec.tasks = {std::move(task)};
  if (const auto problem = jobfile::find_problem(spec)) {
    return base::invalid_argument(base::format("{}: {}", problem->path, problem->text));
  }
  return look_at_hosts(spec, context);
}

client::Doctor doctor() {
  const auto options = std::make_shared<HostsToExamine>();
  return {
      .examined = "these hosts",
      .subject = "hosts",
      .example = "--hosts gpu1,gpu2",
      .flags = {{"--hosts", &options->hosts, "HOSTS", "Over ssh: the hosts to check: gpu1,gpu2:8"},
                {"--hostfile", &options->hostfile, "FILE",
                 "Over ssh: a file with the hosts, a line each"},
                {"--ssh-config", &options->ssh_config, "FILE",
                 "Over ssh: configuration file of ssh, instead of ~/.ssh/config"}},
      .examine = [options](client::Context& context) { return examine(*options, context); }};
}

std::unique_ptr<host::Backend> backend() { return std::make_unique<SshBackend>(); }

client::ExitStatus run_over_ssh(job::JobSpec spec, const client::RunOptions& options,
                                client::Context& context) {
  const auto source = find_hosts(spec, context);
  if (!source.ok()) return client::fail(context, source.error(), client::ExitStatus::kBadInput);
  fill_slots(spec, options);
  if (const auto problem = jobfile::find_problem(spec)) {
    return client::fail(
        context, base::invalid_argument(base::format("{}: {}", problem->path, problem->text)),
        client::ExitStatus::kBadInput);
  }
  // As a host without the working folder would get them.
  const auto files = host_files(spec, context.folder);
  if (!files.ok()) return client::fail(context, files.error(), client::ExitStatus::kBadInput);
  // For commands that look for the job later, from elsewhere.
  std::string& config = ssh::edit_ssh(spec).config;
  if (!config.empty()) config = client::in_folder(context.folder, config);
  auto plan = client::hosted_plan(std::move(spec), options, context);
  if (!plan.ok()) return client::fail(context, plan.error(), client::ExitStatus::kBadInput);
  // Each task's own host decides.
  plan->launch.containment = plan->spec.containment;
  if (!source->empty()) plan->more.emplace_back("hosts from", *source);
  plan->where_tasks_work = ssh::where_tasks_would_work(context.folder, plan->spec);
  if (options.dry_run) return client::show_plan(*plan, options, context);
  auto agent = client::find_agent_of_this_version(context);
  if (!agent.ok()) return client::fail(context, agent.error(), client::ExitStatus::kCouldNotStart);
  plan->launch.agent_program = std::move(*agent);
  if (options.detach) return client::run_detached(*plan, options, context);
  plan->backend =
      std::make_unique<SshBackend>(plan->launch.agent_program, plan->launch.working_folder);
  return client::run_job(*std::move(plan), options, context);
}

}  // namespace

client::Place ssh_place() {
  return {.rules = ssh::ssh_rules(),
          .launch = {.run = run_over_ssh,
                     .backend = backend,
                     .why_no_hosting_flags = "agents reach the master through ssh"},
          .jobs = std::make_shared<const SshJobs>(),
          .doctor = doctor};
}

}  // namespace gangrun::ssh::commands
