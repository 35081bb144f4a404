#include <unistd.h>

#include <memory>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/strings.h"
#include "client/command.h"
#include "client/ending_guard.h"
#include "client/fail.h"
#include "client/prepare.h"
#include "client/text.h"
#include "host/ending_signals.h"
#include "kubernetes/commands/kubernetes_access.h"
#include "kubernetes/commands/kubernetes_checks.h"
#include "kubernetes/commands/kubernetes_place.h"
#include "kubernetes/commands/kubernetes_run.h"
#include "kubernetes/commands/tf_spawner.h"
#include "kubernetes/commands/tf_spawner_objects.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/rights.h"
#include "net/digests.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Result;

constexpr std::size_t kMaxScriptBytes = std::size_t{64} << 20U;
constexpr std::size_t kMaxTemplateBytes = std::size_t{1} << 20U;
constexpr std::size_t kRandomTagBytes = 4;  // eight hexadecimal digits
constexpr std::chrono::seconds kLookTimeout(30);
constexpr std::chrono::minutes kDeleteTimeout(3);

// The cluster as one command asks it, one thing after another.
struct Cluster {
  net::EventLoop loop;
  std::unique_ptr<base::Logger> logger = base::stderr_logger("gangrun", base::LogLevel::kError);
  std::unique_ptr<kubernetes::Client> client;
};

Result<std::unique_ptr<Cluster>> cluster_of(const TfSpawnerOptions& options,
                                            const client::Context& context) {
  pods::KubernetesOptions wanted;
  name_cluster(options, wanted);
  auto cluster = std::make_unique<Cluster>();
  GANGRUN_ASSIGN(cluster->client,
                 kubernetes_client(cluster->loop, *cluster->logger, context, wanted));
  return cluster;
}

Result<std::string> read_named(std::string_view flag, const std::string& file,
                               std::size_t max_bytes, const client::Context& context) {
  const std::string path = client::in_folder(context.folder, file);
  GANGRUN_TRY(client::check_local_file(flag, file, path));
  return base::read_file(path, max_bytes).context(flag);
}

// The file that the flag names, or the one that is taken without it where that is there.
Result<std::optional<std::string>> read_optional(std::string_view flag,
                                                 const std::optional<std::string>& file,
                                                 std::string_view by_default,
                                                 const client::Context& context) {
  std::optional<std::string> text;
  const std::string fallback(by_default);
  const bool is_there =
      !fallback.empty() && ::access(client::in_folder(context.folder, fallback).c_str(), F_OK) == 0;
  if (!file && !is_there) return text;
  GANGRUN_ASSIGN(text, read_named(flag, file.value_or(fallback), kMaxTemplateBytes, context));
  return text;
}

Result<TfSpawnerFiles> read_files(const TfSpawnerOptions& options, const client::Context& context) {
  if (options.positional.empty()) {
    return base::invalid_argument(
        "TRAINING_SCRIPT_PATH is missing; it names the TensorFlow script to run");
  }
  TfSpawnerFiles files;
  GANGRUN_ASSIGN(files.script,
                 read_named("TRAINING_SCRIPT_PATH", options.positional, kMaxScriptBytes, context));
  GANGRUN_ASSIGN(files.command, read_optional("-c", options.command_file, "", context));
  GANGRUN_ASSIGN(files.environment, read_optional("-e", options.env_file, "", context));
  GANGRUN_ASSIGN(files.pod, read_optional("--pod-file", options.pod_file, kPodFile, context));
  GANGRUN_ASSIGN(files.service,
                 read_optional("--service-file", options.service_file, kServiceFile, context));
  return files;
}

// Nothing of another run is touched: with the same tag this one is refused, with another it goes
// beside it.
Result<> keep_from_others(Cluster& cluster, const std::string& tag, KubernetesLaunch& launch,
                          client::Context& context) {
  kubernetes::Client& client = *cluster.client;
  const base::Instant deadline = context.clock.now() + kLookTimeout;
  GANGRUN_ASSIGN(const auto same, objects_with_tag(cluster.loop, client, tag, deadline));
  if (!same.empty()) {
    return base::Error{
        base::Code::kAlreadyExists,
        base::format("there is a run with the tag '{0}' in the namespace '{1}' already ({2}); "
                     "delete it by `{3} -d -t {0}`, or give this one another tag by -t or -r",
                     tag, client.access().name_space, to_string(same.front()), kTfSpawner)};
  }
  GANGRUN_ASSIGN(const auto taken, first_taken(cluster.loop, client, launch.names, deadline));
  if (!taken) return {};
  take_names_of_its_own(launch, tag);
  const std::string whose =
      taken->tag.empty() ? "somebody else's" : base::format("of the run '{}'", taken->tag);
  context.console.err(base::format(
      "{} is {}; this run's pods and services are called {} and so on, its config map {}\n",
      to_string(*taken), whose, launch.names.pods.begin()->second, launch.names.script_config_map));
  return {};
}

// Whoever may do what tf-spawner does, and no more, runs without agents.
Result<> settle_agents(Cluster& cluster, KubernetesLaunch& launch, client::Context& context) {
  if (pods::kubernetes_of(launch.spec).agents || !pods::has_agents(launch.spec)) return {};
  GANGRUN_ASSIGN(const auto missing,
                 missing_rights(cluster.loop, *cluster.client, pods::client_rights(launch.spec),
                                context.clock.now() + kLookTimeout, [] { return false; }));
  const std::string told =
      leave_out_agents(launch.spec, missing, cluster.client->access().name_space);
  if (!told.empty()) context.console.err(told + "\n");
  return {};
}

Result<> look_at_namespace(const TfSpawnerOptions& options, const std::string& tag,
                           KubernetesLaunch& launch, client::Context& context) {
  GANGRUN_ASSIGN(const auto cluster, cluster_of(options, context));
  GANGRUN_TRY(keep_from_others(*cluster, tag, launch, context));
  return settle_agents(*cluster, launch, context);
}

client::ExitStatus start(const TfSpawnerOptions& options, const std::string& tag,
                         client::Context& context) {
  const auto reworded = [&options](base::Error error) {
    return in_own_words(std::move(error), options);
  };
  const auto files = read_files(options, context);
  if (!files.ok()) return client::fail(context, files.error(), client::ExitStatus::kBadInput);
  auto launch = tf_spawner_launch(options, *files, tag, context.places.rules());
  if (!launch.ok()) {
    return client::fail(context, reworded(launch.error()), client::ExitStatus::kBadInput);
  }
  launch->reworded = reworded;
  if (!options.dry_run) {
    const auto looked = look_at_namespace(options, tag, *launch, context);
    if (!looked.ok()) {
      const bool is_input = looked.error().code == base::Code::kInvalidArgument;
      return client::fail(
          context, looked.error(),
          is_input ? client::ExitStatus::kBadInput : client::ExitStatus::kCouldNotStart);
    }
  }
  const std::string label =
      base::format("all objects of this run have the label {}={}\n", kAttemptTag, tag);
  const bool is_for_programs = options.dry_run || options.display.json;
  is_for_programs ? context.console.err(label) : context.console.out(label);
  client::RunOptions run;
  run.display = options.display;
  run.dry_run = options.dry_run;
  return run_on_kubernetes(std::move(*launch), run, context);
}

void show_objects(const std::vector<RunObject>& objects, const TfSpawnerOptions& options,
                  client::Context& context) {
  if (options.display.json) {
    base::Json list = base::Json::array();
    for (const RunObject& object : objects) {
      list.push_back({{"kind", object.kind}, {"name", object.name}});
    }
    context.console.out(base::dump_json({{"objects", std::move(list)}}) + "\n");
    return;
  }
  client::Lines lines;
  for (const RunObject& object : objects) lines.emplace_back(to_string(object));
  context.console.out(lines);
}

client::ExitStatus remove(const TfSpawnerOptions& options, const std::string& tag,
                          client::Context& context) {
  const auto cluster = cluster_of(options, context);
  if (!cluster.ok()) return client::fail(context, cluster.error(), client::ExitStatus::kBadInput);
  net::EventLoop& loop = (*cluster)->loop;
  kubernetes::Client& client = *(*cluster)->client;
  const auto objects = objects_with_tag(loop, client, tag, context.clock.now() + kLookTimeout);
  if (!objects.ok())
    return client::fail(context, objects.error(), client::ExitStatus::kCouldNotStart);
  const std::string what = base::format("with the label {}={} in the namespace '{}'", kAttemptTag,
                                        tag, client.access().name_space);
  if (objects->empty()) {
    const auto known = check_namespace_exists(loop, client, context.clock.now() + kLookTimeout);
    if (!known.ok()) return client::fail(context, known.error(), client::ExitStatus::kBadInput);
    context.console.err(base::format("there is nothing {}\n", what));
    return client::ExitStatus::kSuccess;
  }
  if (!options.display.json) {
    context.console.out(base::format(
        "{} {}:\n", base::count_text(static_cast<std::int64_t>(objects->size()), "object"), what));
  }
  show_objects(*objects, options, context);
  if (options.dry_run) return client::ExitStatus::kSuccess;
  if (!options.yes) {
    context.console.err("delete them? y/[n] ");
    if (!client::is_agreed()) {
      context.console.err("nothing was deleted\n");
      if (::isatty(STDIN_FILENO) == 1) return client::ExitStatus::kSuccess;
      return client::fail(
          context,
          base::invalid_argument("-d asks before it deletes, and standard input did not "
                                 "answer y; say --yes"),
          client::ExitStatus::kBadInput);
    }
  }
  const auto guard = client::EndingGuard::start(
      {.signals = host::ending_signals(), .last = 1, .patience = std::chrono::milliseconds(0)});
  if (!guard.ok()) return client::fail(context, guard.error());
  (*guard)->set_words(base::format(
      "interrupted: whether all objects {} are deleted is not known; `{} -d -t {}` asks again",
      what, kTfSpawner, tag));
  const auto gone =
      delete_objects(loop, client, tag, *objects, context.clock.now() + kDeleteTimeout);
  if (!gone.ok()) return client::fail(context, gone.error(), client::ExitStatus::kFailed);
  return client::ExitStatus::kSuccess;
}

client::ExitStatus spawn(const TfSpawnerOptions& options, client::Context& context) {
  const auto shown = client::check_display(options.display);
  if (!shown.ok()) return client::fail(context, shown.error(), client::ExitStatus::kBadInput);
  const auto tag = tag_of(options, base::to_hex(net::random_bytes(kRandomTagBytes)));
  if (!tag.ok()) return client::fail(context, tag.error(), client::ExitStatus::kBadInput);
  if (!options.deletes) return start(options, *tag, context);
  return remove(options, *tag, context);
}

// Those of tf-spawner, then our own.
std::vector<client::Flag> flags_of(TfSpawnerOptions& options) {
  return {
      {"-d,--delete", &options.deletes, "",
       "Delete what is labelled with the tag: -d TAG, -d -t TAG, or -d alone"},
      {"-w,--workers", &options.workers, "N", "How many workers (2)"},
      {"-n,--namespace", &options.name_space, "NAME",
       "The namespace (that of the kubeconfig's context)"},
      {"-p,--port", &options.port, "PORT", "The workers' gRPC port (1999)"},
      {"-c,--command", &options.command_file, "FILE",
       "Commands to run instead of the script, one a line"},
      {"--pod-file", &options.pod_file, "FILE",
       "The template of the pods (pod.yaml, where there is one)"},
      {"-t,--tag", &options.tag, "TAG", "The tag of the run (tf-spawner)"},
      {"-r,--randomize-tag", &options.has_random_tag, "", "A random tag instead, which is printed"},
      {"-e,--env-file", &options.env_file, "FILE",
       "Variables of every worker, NAME=VALUE on each line"},
      {"-i,--image", &options.image, "IMAGE",
       "The container image (tensorflow/tensorflow:2.1.0-py3)"},
      {"--service-file", &options.service_file, "FILE",
       "The template of the services (service.yaml, where there is one)"},
      {"--output,--outputs", &options.outputs, "PATH",
       "Files and folders of the workers to keep, for gangrun fetch"},
      {"--tensorboard", &options.tensorboard, "PATH",
       "Run TensorBoard beside the workers, on this folder of theirs"},
      {"--restarts", &options.restarts, "N[:SCOPE]",
       "Restart after up to N failures; SCOPE: task (the default) or gang"},
      {"--agents", &options.agents, "WAY",
       "How an agent runs each worker: config_maps (where you may) or none"},
      {"--timeout", &options.timeouts, "KEY=TIME,...",
       "Time limits: allocation, hold, roll_call, job, stop"},
      {"--kubeconfig", &options.kubeconfig, "FILE", "How the cluster is reached"},
      {"--context", &options.context, "NAME", "Which of the kubeconfig's contexts"},
      {"--dry-run", &options.dry_run, "",
       "Print the manifests (with -d what there is) and change nothing"},
      {"--yes", &options.yes, "", "With -d: delete without asking"}};
}

}  // namespace

client::Command tf_spawner_command() {
  const auto options = std::make_shared<TfSpawnerOptions>();
  std::vector<client::Flag> flags = flags_of(*options);
  const auto more = client::display_flags(options->display);
  flags.insert(flags.end(), more.begin(), more.end());
  return {.name = std::string(kTfSpawner),
          .summary = "Train with TensorFlow on several pods of Kubernetes, as tf-spawner does.",
          .words = {{"TRAINING_SCRIPT_PATH", &options->positional}},
          .flags = std::move(flags),
          .footer =
              "The script is found in the pods as /script/training-script.py, the workers' places\n"
              "in TF_CONFIG, WORKER_NUMBER and TOT_WORKERS.\n\n"
              "Examples:\n"
              "  tf-spawner -w 4 -i tensorflow/tensorflow:2.15.0 train.py\n"
              "  tf-spawner -r --pod-file pod-gpu.yaml -e envfile --output model train.py\n"
              "  tf-spawner -d -t tf-spawner\n",
          .action = [options](client::Context& context) { return spawn(*options, context); }};
}

}  // namespace gangrun::kubernetes::commands
