#include "job/spec.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/strings.h"

namespace gangrun::job {

namespace {

constexpr std::pair<int, std::string_view> kSignals[] = {
    {SIGTERM, "TERM"}, {SIGINT, "INT"},   {SIGHUP, "HUP"},
    {SIGQUIT, "QUIT"}, {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"},
};

std::string_view signal_name(int number) {
  for (const auto& [signal, name] : kSignals) {
    if (signal == number) return name;
  }
  return "none";
}

}  // namespace

std::string_view to_string(Policy policy) {
  switch (policy) {
    case Policy::kTracked: return "tracked";
    case Policy::kService: return "service";
    case Policy::kObserver: return "observer";
    case Policy::kSidecar: return "sidecar";
  }
  return "tracked";
}

std::string_view to_string(Framework framework) {
  switch (framework) {
    case Framework::kTensorflow: return "tensorflow";
    case Framework::kPytorch: return "pytorch";
    case Framework::kJax: return "jax";
    case Framework::kHorovod: return "horovod";
  }
  return "none";
}

std::string_view to_string(RestartScope scope) {
  switch (scope) {
    case RestartScope::kNone: return "none";
    case RestartScope::kTask: return "task";
    case RestartScope::kGang: return "gang";
  }
  return "none";
}

std::string_view to_string(ZooKeeperLogin login) {
  switch (login) {
    case ZooKeeperLogin::kNone: return "none";
    case ZooKeeperLogin::kDigest: return "digest";
    case ZooKeeperLogin::kKerberos: return "kerberos";
  }
  return "none";
}

std::string_view to_string(Containment containment) {
  switch (containment) {
    case Containment::kAuto: return "auto";
    case Containment::kPidNamespace: return "pid_namespace";
    case Containment::kCgroup: return "cgroup";
    case Containment::kSubreaper: return "subreaper";
  }
  return "auto";
}

std::string_view to_string(Hold hold) {
  switch (hold) {
    case Hold::kUntilBind: return "until-bind";
    case Hold::kUntilExec: return "until-exec";
  }
  return "until-bind";
}

std::string_view to_string(Expose expose) {
  switch (expose) {
    case Expose::kLoopback: return "loopback";
    case Expose::kHost: return "host";
  }
  return "loopback";
}

std::string_view to_string(StopSignal signal) { return signal_name(static_cast<int>(signal)); }

std::string_view to_string(StopSignalTo to) {
  return to == StopSignalTo::kGroup ? "group" : "process";
}

std::string_view to_string(NoticeSignal signal) { return signal_name(static_cast<int>(signal)); }

std::vector<std::string> Command::argv() const {
  if (!words.empty()) return words;
  return {"/bin/sh", "-c", shell_line};
}

std::string Command::to_string() const {
  if (words.empty()) return shell_line;
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += base::shell_quote(word);
  }
  return line;
}

Resources TaskSpec::resources_of(int index) const {
  Resources own = resources;
  const auto found = overrides.find(index);
  if (found == overrides.end()) return own;
  own.memory_mib = found->second.memory_mib.value_or(own.memory_mib);
  own.vcores = found->second.vcores.value_or(own.vcores);
  own.gpus = found->second.gpus.value_or(own.gpus);
  for (const auto& [name, amount] : found->second.others) own.others[name] = amount;
  return own;
}

const TaskSpec* JobSpec::find(std::string_view type) const {
  const auto found =
      std::find_if(tasks.begin(), tasks.end(), [&](const TaskSpec& t) { return t.type == type; });
  return found == tasks.end() ? nullptr : &*found;
}

const Command& JobSpec::command_of(const TaskSpec& task) const {
  return task.command.empty() ? command : task.command;
}

std::map<std::string, std::string> JobSpec::archives_of(const TaskSpec& task) const {
  std::map<std::string, std::string> all = task.archives;
  all.insert(archives.begin(), archives.end());
  return all;
}

int JobSpec::task_count() const {
  return std::accumulate(tasks.begin(), tasks.end(), 0,
                         [](int sum, const TaskSpec& task) { return sum + task.instances; });
}

std::vector<TaskId> JobSpec::task_ids() const {
  std::vector<TaskId> ids;
  for (const TaskSpec& task : tasks) {
    for (int index = 0; index < task.slots(); ++index) ids.push_back({task.type, index});
  }
  return ids;
}

Policy default_policy(std::string_view type) {
  if (type == "ps") return Policy::kService;
  if (type == "evaluator") return Policy::kObserver;
  if (type == "tensorboard") return Policy::kSidecar;
  return Policy::kTracked;
}

Policy effective_policy(const JobSpec& job, const TaskSpec& task) {
  const bool has_tracked = std::any_of(job.tasks.begin(), job.tasks.end(), [](const TaskSpec& t) {
    return t.policy == Policy::kTracked;
  });
  if (!has_tracked && task.policy == Policy::kObserver) return Policy::kTracked;
  return task.policy;
}

std::string port_variable(std::string_view name) {
  return base::format("GANGRUN_PORT_{}", in_variable(name));
}

}  // namespace gangrun::job
