#include "yarn/commands/yarn_run.h"

#include <chrono>
#include <memory>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "client/agent_program.h"
#include "client/cluster_session.h"
#include "client/ending_guard.h"
#include "client/fail.h"
#include "client/plan.h"
#include "client/prepare.h"
#include "client/run_record.h"
#include "client/sites.h"
#include "client/transfer_progress.h"
#include "client/zookeeper_input.h"
#include "host/ending_signals.h"
#include "job/units.h"
#include "jobfile/shipped_files.h"
#include "yarn/commands/hadoop_access.h"
#include "yarn/submitter.h"
#include "yarn/task_container.h"
#include "yarn/yarn_options.h"
#include "yarn/zookeeper_defaults.h"

namespace gangrun::yarn::commands {

namespace {

using base::Result;

// Empty where the user has no place for what can be made again.
std::string digest_cache_path(const client::Context& context) {
  std::string folder = context.variable("XDG_CACHE_HOME");
  const std::string home = context.variable("HOME");
  if (!folder.starts_with('/') && home.starts_with('/')) folder = home + "/.cache";
  return folder.starts_with('/') ? folder + "/gangrun/digests.json" : std::string();
}

// The description of the job itself for YARN.
std::vector<std::pair<std::string, std::string>> plan_of_yarn(const job::JobSpec& spec) {
  std::vector<std::pair<std::string, std::string>> lines;
  const yarn::YarnOptions& yarn = yarn::yarn_of(spec);
  lines.emplace_back("queue", yarn.queue.empty() ? "default" : yarn.queue);
  if (yarn.priority) lines.emplace_back("priority", std::to_string(*yarn.priority));
  if (!yarn.tags.empty()) {
    lines.emplace_back("tags", base::format("{}", base::join(yarn.tags, ", ")));
  }
  if (!yarn.file_systems.empty()) {
    lines.emplace_back("file systems", base::format("{}", base::join(yarn.file_systems, ", ")));
  }
  if (!yarn.principal.empty()) lines.emplace_back("principal", yarn.principal);
  if (!yarn.keytab.empty()) lines.emplace_back("keytab", yarn.keytab);
  if (!yarn.as.empty()) lines.emplace_back("as", yarn.as);
  std::string master = client::resources_words(yarn.master, "no memory request");
  if (yarn.master_label) master += ", label " + *yarn.master_label;
  lines.emplace_back("master", master);
  lines.emplace_back("holds",
                     "its first containers for up to " + job::duration_text(spec.timeouts.hold) +
                         " while others are missing, then releases them and requests all again");
  return lines;
}

Result<> show_yarn_plan(const job::JobSpec& spec, const jobfile::ShippedFiles& files,
                        const HadoopAccess& access, const client::RunOptions& options,
                        client::Context& context) {
  const client::Plan plan{
      .spec = spec,
      .working_folder = "the container's",
      .where_tasks_work = yarn::where_containers_work(spec, "the job's folder on HDFS"),
      .job_folder = base::format("~/.gangrun/jobs/<application> on {}",
                                 hadoop::to_string(access.file_system)),
      .host = "as YARN calls each node",
      .containment = job::Containment::kAuto,
      .more = plan_of_yarn(spec),
      .no_memory =
          base::format("the default memory ({})", job::memory_text(yarn::kDefaultMemoryMib)),
      .image_runner = yarn::yarn_of(spec).container_runtime == yarn::ContainerRuntime::kDocker
                          ? "run by YARN's container runtime"
                          : "run by the container engine beside the agent",
      .sources = options.sources};
  if (options.display.json) {
    GANGRUN_ASSIGN(base::Json json, client::plan_json(plan));
    base::Json shipped = base::Json::array();
    for (const auto& file : files.local) {
      shipped.push_back({{"name", file.name}, {"path", file.path}});
    }
    for (const auto& file : files.there)
      shipped.push_back({{"name", file.name}, {"url", file.url}});
    for (const auto& archive : files.archives) {
      const char* from = jobfile::has_scheme(archive.source) ? "url" : "path";
      shipped.push_back({{"name", archive.folder}, {"type", archive.type}, {from, archive.source}});
    }
    json["shipped"] = std::move(shipped);
    context.console.out(base::dump_json_indented(json) + "\n");
    return {};
  }
  GANGRUN_ASSIGN(client::Lines lines, client::plan_lines(plan));
  if (!files.local.empty() || !files.there.empty()) {
    lines.emplace_back("");
    lines.emplace_back("files in each task's folder");
  }
  for (const auto& file : files.local) {
    lines.emplace_back(base::format("  {}  from {}", file.name, file.path));
  }
  for (const auto& file : files.there) {
    lines.emplace_back(base::format("  {}  from {}", file.name, file.url));
  }
  if (!files.archives.empty()) {
    lines.emplace_back("");
    lines.emplace_back("archives unpacked in the tasks' folders");
  }
  for (const auto& archive : files.archives) {
    lines.emplace_back(
        base::format("  {}/ of {}  from {}", archive.folder, archive.type, archive.source));
  }
  context.console.out(lines);
  return {};
}

// As hadoop_access() finds it.
std::string keytab_path(const job::JobSpec& spec, const client::Context& context) {
  const std::string& keytab = yarn::yarn_of(spec).keytab;
  if (keytab.empty() || keytab.starts_with('/')) return keytab;
  return client::in_folder(context.folder, keytab);
}

// Whoever interrupts the submission ends it there and then, whoever is asked just now.
Result<std::unique_ptr<client::EndingGuard>> guard_submission() {
  GANGRUN_ASSIGN(
      auto guard,
      client::EndingGuard::start(
          {.signals = host::job_signals(), .last = 1, .patience = std::chrono::milliseconds(0)}));
  guard->set_words("interrupted: the job is not submitted");
  return guard;
}

// As the job's master will, but from this machine: the guard ends it when somebody interrupts.
Result<> check_zookeeper_from_here(const job::JobSpec& spec, const mirror::ZooKeeperFiles& files,
                                   const client::Context& context) {
  net::EventLoop loop;
  return client::check_required_zookeeper(
      loop, spec, files,
      {.principal = yarn::yarn_of(spec).principal, .keytab = keytab_path(spec, context)}, context,
      [] { return false; });
}

std::string unsure_words(const hadoop::ApplicationId& id) {
  return base::format(
      "interrupted: YARN may have taken the job already; `gangrun kill {}` ends it then",
      hadoop::to_string(id));
}

}  // namespace

client::ExitStatus run_on_yarn(const job::JobSpec& asked, const client::RunOptions& options,
                               client::Context& context) {
  job::JobSpec spec = asked;
  auto files = jobfile::shipped_files(spec, context.folder, client::kind_of);
  if (!files.ok()) return client::fail(context, files.error(), client::ExitStatus::kBadInput);
  const yarn::YarnOptions& own = yarn::yarn_of(spec);
  const auto access = hadoop_access(
      context,
      {.principal = own.principal, .keytab = own.keytab, .as = own.as, .is_plan = options.dry_run});
  if (!access.ok()) return client::fail(context, access.error(), client::ExitStatus::kBadInput);
  if (spec.zookeeper) {
    auto full = yarn::with_defaults_of(*spec.zookeeper, (*access)->configuration);
    if (!full.ok()) return client::fail(context, full.error(), client::ExitStatus::kBadInput);
    spec.zookeeper = *std::move(full);
  }
  yarn::edit_yarn(spec).container_runtime =
      yarn::container_runtime_of(spec, (*access)->configuration);
  if (options.dry_run) {
    const auto shown = show_yarn_plan(spec, *files, **access, options, context);
    return shown.ok() ? client::ExitStatus::kSuccess
                      : client::fail(context, shown.error(), client::ExitStatus::kBadInput);
  }
  auto agent = client::find_agent_of_this_version(context);
  if (!agent.ok()) return client::fail(context, agent.error(), client::ExitStatus::kCouldNotStart);
  const auto secrets = client::zookeeper_files(spec, context);
  if (!secrets.ok()) return client::fail(context, secrets.error(), client::ExitStatus::kBadInput);
  auto guard = guard_submission();
  if (!guard.ok()) return client::fail(context, guard.error(), client::ExitStatus::kCouldNotStart);
  const auto required = check_zookeeper_from_here(spec, *secrets, context);
  if (!required.ok())
    return client::fail(context, required.error(), client::ExitStatus::kCouldNotStart);
  client::TransferProgress progress(context.console, "upload",
                                    client::TransferProgress::form_for(context.console, options));
  yarn::YarnSubmitter submitter(
      (*access)->configuration, (*access)->file_system, (*access)->account, context.clock,
      digest_cache_path(context),
      [&progress](const std::string& name, std::uint64_t sent, std::uint64_t size) {
        progress.show(name, sent, size);
      });
  const auto checked = submitter.check(spec);
  if (!checked.ok()) {
    const bool is_input = checked.error().code == base::Code::kInvalidArgument;
    return client::fail(
        context, checked.error(),
        is_input ? client::ExitStatus::kBadInput : client::ExitStatus::kCouldNotStart);
  }
  const auto id = submitter.submit({.spec = spec,
                                    .files = std::move(*files),
                                    .agent_program = std::move(*agent),
                                    .submitted = context.clock.wall_now(),
                                    .client_program = context.program,
                                    .keytab = keytab_path(spec, context),
                                    .krb5_config = context.variable("KRB5_CONFIG"),
                                    .zookeeper_files = *secrets,
                                    .authorities = context.variable("SSL_CERT_FILE")},
                                   [&guard](const hadoop::ApplicationId& asked_for) {
                                     (*guard)->set_words(unsure_words(asked_for));
                                   });
  guard->reset();
  if (!id.ok()) return client::fail(context, id.error(), client::ExitStatus::kCouldNotStart);
  const std::string text = hadoop::to_string(*id);
  client::note_as_last(context, text);
  if (options.detach) return client::leave_submitted(text, {{"job", text}}, spec, options, context);
  client::keep_run(text, spec, options, context);
  return client::show_cluster_job(yarn_cluster_job(**access, text, context),
                                  {.ours = true, .allocation_limit = spec.timeouts.allocation},
                                  options.display, context);
}

}  // namespace gangrun::yarn::commands
