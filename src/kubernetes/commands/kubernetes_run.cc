#include "kubernetes/commands/kubernetes_run.h"

#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <utility>

#include "base/file_tree.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/log.h"
#include "client/agent_program.h"
#include "client/fail.h"
#include "client/plan_sources.h"
#include "client/prepare.h"
#include "client/run_session.h"
#include "client/sites.h"
#include "client/transfer_progress.h"
#include "cluster/fetched_files.h"
#include "host/job_folder.h"
#include "jobfile/shipped_files.h"
#include "jobfile/yaml_json.h"
#include "kubernetes/client.h"
#include "kubernetes/commands/checked_maps.h"
#include "kubernetes/commands/detached_job.h"
#include "kubernetes/commands/first_pods.h"
#include "kubernetes/commands/kubernetes_access.h"
#include "kubernetes/commands/pods_backend.h"
#include "kubernetes/pods/agent_files.h"
#include "kubernetes/pods/architecture.h"
#include "kubernetes/pods/job_pods.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/where_pods_work.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Json;
using base::Result;

constexpr std::string_view kHidden = "(hidden)";
// The reading of a smaller file takes no time that people notice.
constexpr std::uint64_t kShownBytes = std::uint64_t{64} << 20U;
// A dry run does not wait long for a cluster that may be out of reach here.
constexpr std::chrono::seconds kTrialLimit(5);

// A plan is shown, kept and sent on: what a Secret holds is not for it.
void hide_values(Json& secret) {
  for (const char* key : {"data", "stringData"}) {
    const auto found = secret.find(key);
    if (found == secret.end()) continue;
    Json hidden = Json::object();
    for (const auto& [name, value] : found->items()) hidden[name] = kHidden;
    secret.erase(key);
    secret["stringData"] = std::move(hidden);
  }
}

// All objects of the job as they are made, but for what the API server gives (the owner's uid) and
// what is nobody's to see.
Result<std::vector<Json>> made_objects(const pods::Manifests& manifests, bool is_detached) {
  if (is_detached) return detached_objects(manifests);
  const pods::Owner nobody;
  std::vector<Json> all = {manifests.owner(pods::kClientLease)};
  for (Json& object : manifests.objects(nobody)) all.push_back(std::move(object));
  GANGRUN_ASSIGN(std::vector<Json> pods, first_pods(manifests, nobody));
  std::move(pods.begin(), pods.end(), std::back_inserter(all));
  if (manifests.input().agents) {
    all.push_back(manifests.relay({.attempt = 1, .environment = {}}, nobody));
  }
  return all;
}

Result<std::vector<Json>> shown_manifests(const pods::Manifests& manifests, bool is_detached) {
  GANGRUN_ASSIGN(std::vector<Json> all, made_objects(manifests, is_detached));
  for (Json& object : all) {
    if (object.value("kind", "") == "Secret") hide_values(object);
    if (object.contains("metadata")) object["metadata"].erase("ownerReferences");
  }
  return all;
}

client::ExitStatus show_manifests(const pods::Manifests& manifests,
                                  const client::RunOptions& options, client::Context& context) {
  const auto shown = shown_manifests(manifests, options.detach);
  if (!shown.ok()) return client::fail(context, shown.error(), client::ExitStatus::kBadInput);
  if (options.display.json) {
    const Json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", *shown}};
    context.console.out(base::dump_json_indented(list) + "\n");
    return client::ExitStatus::kSuccess;
  }
  std::string text;
  for (const Json& object : *shown) text += "---\n" + jobfile::json_to_yaml(object);
  context.console.out(text);
  return client::ExitStatus::kSuccess;
}

Result<PodsPlan> plan_of(KubernetesLaunch launch, const client::RunOptions& options,
                         const client::Context& context) {
  PodsPlan pods;
  client::RunPlan& plan = pods.run;
  GANGRUN_ASSIGN(auto access, kubernetes_access(context, pods::kubernetes_of(launch.spec)));
  pods::ManifestInput input;
  input.spec = launch.spec;
  input.name_space = access.name_space;
  input.files = std::move(launch.files);
  input.fetched = std::move(launch.fetched);
  input.names = std::move(launch.names);
  const pods::GangScheduling wanted = pods::kubernetes_of(launch.spec).gang_scheduling;
  input.gang_scheduling =
      wanted == pods::GangScheduling::kAuto ? pods::GangScheduling::kHold : wanted;
  if (pods::has_agents(launch.spec)) {
    GANGRUN_ASSIGN(input.agents, agent_pods(launch.spec, context));
  }
  plan.spec = std::move(launch.spec);
  // For commands that look for the job later, from elsewhere.
  pods::KubernetesOptions& where = pods::edit_kubernetes(plan.spec);
  where.name_space = access.name_space;
  where.agents = pods::agents_by(plan.spec);
  if (!where.kubeconfig.empty())
    where.kubeconfig = client::in_folder(context.folder, where.kubeconfig);
  plan.spec = pods::with_time_for_pods(std::move(plan.spec));
  pods.manifests = std::move(input);
  pods.access = std::move(access);
  GANGRUN_ASSIGN(plan.home, client::home_of(context));
  plan.launch.host = "127.0.0.1";
  plan.launch.working_folder = context.folder;
  plan.launch.verbose = options.display.verbose;
  return pods;
}

// Asks the API server whether it takes the pods. If it cannot be asked, the plan is good for all we
// know, and the user is told.
Result<> check_by_server(const kubernetes::Access& access, const pods::Manifests& manifests,
                         client::Context& context) {
  net::EventLoop loop;
  const auto logger = base::stderr_logger("gangrun", base::LogLevel::kError);
  auto client = kubernetes::Client::make(loop, *logger, access, plugin_runner());
  const auto tried =
      client.ok() ? try_pods(loop, **client, manifests, loop.now() + kTrialLimit) : client.error();
  if (tried.ok()) return {};
  if (tried.error().code == base::Code::kInvalidArgument) return tried.error();
  context.console.error(
      base::format("the API server has not checked the pods: {}", tried.error().message));
  return {};
}

void tell_of_pods(const pods::Manifests& manifests, const client::RunOptions& options,
                  client::Context& context) {
  context.console.error(pods::where_pods_work(manifests));
  context.console.error(pods::how_agents_come(manifests, options.detach));
  const std::string files = pods::how_files_come(manifests.input());
  if (!files.empty()) context.console.error(files);
  if (manifests.input().agents) return;
  context.console.error(pods::what_pods_lack());
  const std::string begin = pods::when_pods_begin(manifests);
  if (!begin.empty()) context.console.error(begin);
}

Result<std::shared_ptr<const cluster::FetchedFiles>> fetched_files(const base::FileTree& tree) {
  auto files = std::make_shared<cluster::FetchedFiles>();
  for (const auto& [name, entry] : tree.entries()) {
    if (entry.is_folder) continue;
    // Below a folder it may be any bytes, and agents hear of it as text.
    GANGRUN_TRY(jobfile::check_file_name(name));
    GANGRUN_ASSIGN(auto file, cluster::look_at(name, entry.path, entry.is_program));
    files->push_back(std::move(file));
  }
  return std::shared_ptr<const cluster::FetchedFiles>(std::move(files));
}

// Agents check what they fetch by the digests, whenever that is.
Result<> take_digests(pods::ManifestInput& input, const client::RunOptions& options,
                      client::Context& context) {
  if (!input.fetched) return {};
  using Form = client::TransferProgress::Form;
  client::TransferProgress progress(
      context.console, "read",
      options.display.json
          ? Form::kNone
          : client::TransferProgress::form_for(context.console, options.display.quiet));
  const auto show = [&progress](const cluster::FetchedFile& file, std::uint64_t read) {
    if (file.size >= kShownBytes) progress.show(file.name, read, file.size);
  };
  GANGRUN_ASSIGN(auto files, pods::with_digests(*input.fetched, show));
  input.fetched = std::make_shared<const cluster::FetchedFiles>(std::move(files));
  return {};
}

// Those of the client's architecture are beside its own agent, others in a folder there that has
// the name of theirs.
Result<AgentFiles> agent_files(const job::JobSpec& spec, const std::string& program) {
  GANGRUN_ASSIGN(const std::string architecture,
                 pods::agents_architecture(spec, pods::own_architecture()));
  if (architecture == pods::own_architecture()) return read_agent_files(program);
  const std::filesystem::path own(program);
  auto files = read_agent_files((own.parent_path() / architecture / own.filename()).string());
  if (files.ok()) return files;
  return base::Error{
      files.error().code,
      base::format("{0}: {1}: this gangrun has no agent for {1} ({2}); put the files of a gangrun "
                   "for {1} there, or set kubernetes.agent_image, or choose {3} nodes",
                   pods::kArchitectureLabel, architecture, files.error().message,
                   pods::own_architecture())};
}

}  // namespace

Result<pods::AgentPods> agent_pods(const job::JobSpec& spec, const client::Context& context) {
  if (pods::agents_by(spec) == pods::AgentsBy::kImage) {
    return pods::AgentPods{.source = pods::by_image(pods::kubernetes_of(spec).agent_image)};
  }
  GANGRUN_ASSIGN(const std::string program, client::find_agent_of_this_version(context));
  GANGRUN_ASSIGN(AgentFiles files, agent_files(spec, program));
  GANGRUN_ASSIGN(auto parts,
                 pods::AgentParts::make(std::move(files.loader), std::move(files.packed_agent)));
  return pods::AgentPods{.source = pods::by_config_maps(std::move(parts))};
}

Result<JobFiles> job_files(const job::JobSpec& spec, const client::Context& context) {
  GANGRUN_ASSIGN(const auto shipped, jobfile::shipped_files(spec, context.folder, client::kind_of));
  if (!shipped.there.empty()) {
    return base::invalid_argument(
        base::format("files: '{}' is not allowed with `on: {}`; allowed: files of this machine",
                     shipped.there.front().url, spec.on));
  }
  base::FileTree tree({});
  for (const jobfile::LocalFile& file : shipped.local) {
    const auto added = tree.add(file.name, file.path);
    if (!added.ok()) {
      return base::invalid_argument(base::format("files: {}", added.error().message));
    }
  }
  // Before anything is read: all of it is in memory then.
  std::size_t count = 0;
  std::uint64_t bytes = 0;
  for (const auto& [name, entry] : tree.entries()) {
    count += entry.is_folder ? 0 : 1;
    bytes += entry.size;
  }
  JobFiles files;
  const auto carried = pods::check_carried(count, bytes);
  if (!carried.ok() && pods::has_agents(spec)) {
    GANGRUN_TRY(pods::check_fetched(count, bytes));
    GANGRUN_ASSIGN(files.fetched, fetched_files(tree));
    return files;
  }
  GANGRUN_TRY(carried);
  for (const auto& [name, entry] : tree.entries()) {
    if (entry.is_folder) continue;
    GANGRUN_ASSIGN(std::string content, base::read_file(entry.path, pods::kMaxCarriedBytes));
    files.carried.push_back({name, std::move(content), entry.is_program});
  }
  return files;
}

client::ExitStatus run_on_kubernetes(KubernetesLaunch launch, const client::RunOptions& options,
                                     client::Context& context) {
  const auto refuse = [&context, reworded = launch.reworded](const base::Error& error) {
    return client::fail(context, reworded ? reworded(error) : error, client::ExitStatus::kBadInput);
  };
  auto files = job_files(launch.spec, context);
  if (!files.ok()) return refuse(files.error());
  std::move(files->carried.begin(), files->carried.end(), std::back_inserter(launch.files));
  launch.fetched = std::move(files->fetched);
  auto plan = plan_of(std::move(launch), options, context);
  if (!plan.ok()) return refuse(plan.error());
  if (options.detach) {
    const auto named = check_master_account(plan->run.spec, plan->access.name_space, context);
    if (!named.ok()) return refuse(named.error());
    if (plan->manifests.fetched) {
      return refuse(base::invalid_argument(
          "files: they are too large for config maps, and with --detach nothing else brings them "
          "to "
          "the pods; put large files into the image or a volume, or run the job without --detach"));
    }
  }
  {
    // Any id is as long as the job's own will be. Of a large job these are large: they go before it
    // runs.
    pods::ManifestInput trial = plan->manifests;
    trial.job_id = host::make_job_id(plan->run.spec.name, context.clock.wall_now(), 0);
    const auto manifests = pods::Manifests::make(std::move(trial));
    if (!manifests.ok()) return refuse(manifests.error());
    if (options.dry_run) {
      const auto checked = check_by_server(plan->access, *manifests, context);
      if (!checked.ok()) return refuse(checked.error());
      tell_of_pods(*manifests, options, context);
      // The objects are what kubectl reads, and have no place for it.
      if (!options.display.json && !options.sources.origins.empty())
        context.console.err(client::sources_lines(plan->run.spec, options.sources));
      return show_manifests(*manifests, options, context);
    }
  }
  if (options.detach) return run_with_pod_master(std::move(*plan), options, context);
  const auto digests = take_digests(plan->manifests, options, context);
  if (!digests.ok()) return refuse(digests.error());
  plan->run.backend = std::make_unique<PodsBackend>(std::move(plan->access),
                                                    std::move(plan->manifests), plan->run.home);
  return client::run_job(std::move(plan->run), options, context);
}

}  // namespace gangrun::kubernetes::commands
