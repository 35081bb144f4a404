#include "job/build.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/limits.h"
#include "job/merge.h"
#include "job/ports.h"
#include "job/spec_names.h"
#include "job/validate.h"

namespace gangrun::job {

namespace {

using base::Result;

constexpr std::string_view kTensorboardType = "tensorboard";

// The longest part of the problem's path whose origin is known says where the value stands.
base::Error locate(const Problem& problem, const JobDraft& draft) {
  std::string path = problem.path;
  while (true) {
    const auto found = draft.origins.find(path);
    if (found != draft.origins.end()) {
      return base::invalid_argument(
          base::format("{}{}: {}", found->second, problem.path, problem.text));
    }
    const std::size_t dot = path.rfind('.');
    if (dot == std::string::npos) break;
    path.resize(dot);
  }
  return base::invalid_argument(base::format("{}: {}", problem.path, problem.text));
}

// `text` with what a name cannot have replaced; empty if nothing is left.
std::string as_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool is_plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_plain) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += c == '.' || c == '_' ? c : '-';
    }
  }
  if (name.size() > kMaxNameBytes) name.resize(kMaxNameBytes);
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  return name;
}

std::string stem_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  std::string_view file = path;
  if (slash != std::string::npos) file.remove_prefix(slash + 1);
  return as_name(file.substr(0, file.rfind('.')));
}

// "job.yaml" → "job"; "python train.py --out x" → "train"; "/bin/true" → "true".
std::string name_by_file(const JobDraft& draft, const Defaults& defaults) {
  std::string name = stem_of(defaults.spec_path);
  if (!name.empty()) return name;
  std::vector<std::string> words;
  if (draft.command) {
    words = draft.command->words;
    if (words.empty()) words = base::split(draft.command->shell_line, ' ');
  }
  for (const std::string& word : words) {
    if (word.ends_with(".py") || word.ends_with(".sh")) name = stem_of(word);
    if (!name.empty()) return name;
  }
  return words.empty() ? "" : stem_of(words.front());
}

std::string default_name(const JobDraft& draft, const Defaults& defaults) {
  std::string name = name_by_file(draft, defaults);
  return name.empty() || name == kNewestJob ? "job" : name;
}

// The folder, and who reaches it. The task's own Python goes first: an environment brings the
// module, and its folder of programs need not be on the PATH. `env` is where the Python package
// puts an environment.
constexpr std::string_view kTensorboardScript = R"(set -- {} {} --port "$GANGRUN_PORT"
for python in env/bin/python python python3; do
  "$python" -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("tensorboard.main"))' 2>/dev/null &&
    exec "$python" -m tensorboard.main --logdir "$@"
done
command -v tensorboard >/dev/null && exec tensorboard --logdir "$@"
echo "gangrun: TensorBoard is not installed here: python and python3 have no module tensorboard," \
  "and the PATH has no program tensorboard; install it in the task's environment, or give it a command of its own" >&2
exit 127)";

Command tensorboard_command(const TaskSpec& task) {
  const std::string_view reach = task.expose == Expose::kHost ? "--bind_all" : "--host 127.0.0.1";
  return {{}, base::format(kTensorboardScript, base::shell_quote(task.logdir), reach)};
}

Result<TaskSpec> complete_task(const TaskDraft& draft) {
  TaskSpec task;
  const Resources defaults;
  task.type = draft.type;
  task.instances = draft.instances.value_or(1);
  task.min_instances = draft.min_instances;
  task.spares = draft.spares.value_or(0);
  task.processes = draft.processes.value_or(1);
  task.ports = ports_of(draft.ports);
  task.resources = {draft.memory_mib.value_or(defaults.memory_mib),
                    draft.vcores.value_or(defaults.vcores), draft.gpus.value_or(defaults.gpus),
                    draft.others};
  for (const auto& [index, own] : draft.overrides) {
    if (own != ResourceOverride{}) task.overrides.emplace(index, own);
  }
  task.label = draft.label;
  task.one_per_node = draft.one_per_node.value_or(false);
  task.image = draft.image;
  task.archives = draft.archives;
  task.environment = draft.environment;
  task.pod = draft.pod;
  task.outputs = draft.outputs;
  task.policy = draft.policy.value_or(default_policy(draft.type));
  task.grace = draft.grace.value_or(
      task.policy == Policy::kObserver ? kDefaultObserverGrace : std::chrono::milliseconds(0));
  task.logdir = draft.logdir.value_or("");
  task.expose = draft.expose.value_or(task.expose);
  if (draft.command) {
    task.command = *draft.command;
  } else if (draft.type == kTensorboardType) {
    if (task.logdir.empty()) {
      return base::invalid_argument(
          "tensorboard has no folder to show; give it `logdir`, or its own `command`");
    }
    task.command = tensorboard_command(task);
  }
  return task;
}

void complete_timeouts(const TimeoutsDraft& draft, Timeouts& timeouts) {
  timeouts.allocation = draft.allocation.value_or(timeouts.allocation);
  timeouts.hold = draft.hold.value_or(timeouts.hold);
  timeouts.roll_call = draft.roll_call.value_or(timeouts.roll_call);
  timeouts.job = draft.job.value_or(timeouts.job);
  timeouts.stop = draft.stop.value_or(timeouts.stop);
  timeouts.shrink = draft.shrink.value_or(timeouts.shrink);
  timeouts.master_lost = draft.master_lost;
}

void complete_yarn(const YarnDraft& draft, YarnOptions& yarn) {
  yarn.queue = draft.queue.value_or("");
  yarn.priority = draft.priority;
  yarn.tags = draft.tags.value_or(yarn.tags);
  yarn.master.memory_mib = draft.master_memory_mib.value_or(yarn.master.memory_mib);
  yarn.master.vcores = draft.master_vcores.value_or(yarn.master.vcores);
  yarn.master_label = draft.master_label;
  yarn.view_acl = draft.view_acl.value_or("");
  yarn.modify_acl = draft.modify_acl.value_or("");
  yarn.max_attempts = draft.max_attempts.value_or(yarn.max_attempts);
  yarn.container_runtime = draft.container_runtime.value_or(yarn.container_runtime);
  yarn.file_systems = draft.file_systems.value_or(yarn.file_systems);
  yarn.principal = draft.principal.value_or("");
  yarn.keytab = draft.keytab.value_or("");
  yarn.as = draft.as.value_or("");
}

Result<JobSpec> complete(const JobDraft& draft, const Defaults& defaults) {
  JobSpec spec;
  for (const TaskDraft& task : draft.tasks) {
    auto completed = complete_task(task);
    if (!completed.ok()) {
      return locate({"tasks." + task.type, completed.error().message}, draft);
    }
    spec.tasks.push_back(std::move(*completed));
  }
  spec.name = draft.name ? *draft.name : default_name(draft, defaults);
  spec.command = draft.command.value_or(Command{});
  spec.environment = draft.environment;
  spec.frameworks = draft.frameworks;
  spec.success = draft.success.value_or("all");
  spec.restarts = draft.restarts.value_or(Restarts{});
  complete_timeouts(draft.timeouts, spec.timeouts);
  spec.files = draft.files;
  spec.archives = draft.archives;
  spec.image = draft.image.value_or("");
  spec.mounts = draft.mounts;
  spec.zookeeper = draft.zookeeper;
  spec.on = draft.on.value_or(spec.on);
  complete_yarn(draft.yarn, spec.yarn);
  spec.kubernetes = draft.kubernetes;
  spec.outputs = draft.outputs;
  spec.hosts = draft.hosts.value_or(spec.hosts);
  spec.interface = draft.interface.value_or("");
  spec.containment = draft.containment.value_or(spec.containment);
  spec.stop_signal = draft.stop_signal.value_or(spec.stop_signal);
  spec.stop_signal_to = draft.stop_signal_to.value_or(spec.stop_signal_to);
  // A notice is no order to stop.
  const auto notice =
      spec.stop_signal == StopSignal::kUsr1 ? NoticeSignal::kUsr2 : spec.notice_signal;
  spec.notice_signal = draft.notice_signal.value_or(notice);
  return spec;
}

}  // namespace

Result<JobSpec> build(const std::optional<JobDraft>& draft, const Flags& flags,
                      const Defaults& defaults) {
  JobDraft merged = draft.value_or(JobDraft{});
  GANGRUN_TRY(merge_flags(flags, merged));
  GANGRUN_ASSIGN(JobSpec spec, complete(merged, defaults));
  if (const auto problem = find_problem(spec)) return locate(*problem, merged);
  const auto& places = defaults.places;
  if (!places.empty() && std::find(places.begin(), places.end(), spec.on) == places.end()) {
    return locate({"on", not_one_of(spec.on, "a place", places).message}, merged);
  }
  return spec;
}

}  // namespace gangrun::job
