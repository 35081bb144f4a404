#include "job/spec.h"

#include <algorithm>
#include <numeric>

#include "base/strings.h"

namespace gangrun::job {

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
