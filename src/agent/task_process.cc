#include "agent/task_process.h"

#include <sys/stat.h>

#include <algorithm>

#include "agent/image_run.h"
#include "frameworks/environment.h"
#include "frameworks/outer_launchers.h"
#include "job/spec_names.h"

namespace gangrun::agent {

namespace {

// Numbers of HIP's own lists count what ROCr lets through: those of the agent's would choose again.
void set_gpus(const job::Gpus& gpus, Variables& variables) {
  if (gpus.maker == job::GpuMaker::kAmd) {
    for (const char* name : {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) variables.erase(name);
  }
  variables[std::string(job::visible_variable(gpus.maker))] = job::names_of(gpus);
}

}  // namespace

Variables inherited_variables(const std::vector<std::string>& environment, bool runs_image) {
  const auto is_set = [&environment](std::string_view name) {
    return std::ranges::any_of(environment, [name](std::string_view text) {
      return text.starts_with(name) && text.substr(name.size()).starts_with('=');
    });
  };
  Variables variables;
  for (const std::string_view text : environment) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    // Those of a job in which gangrun itself was called say nothing true of this one.
    if (frameworks::is_reserved(text.substr(0, equals))) continue;
    if (frameworks::is_of_outer_launcher(text.substr(0, equals), is_set)) continue;
    if (runs_image && !passes_into_image(text.substr(0, equals))) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

void name_working_folder(const std::string& folder, Variables& inherited) {
  const auto known = inherited.find("PWD");
  if (known == inherited.end() || known->second == folder) return;
  struct stat there {};
  struct stat wanted {};
  const bool is_same = ::stat(known->second.c_str(), &there) == 0 &&
                       ::stat(folder.c_str(), &wanted) == 0 && there.st_dev == wanted.st_dev &&
                       there.st_ino == wanted.st_ino;
  if (is_same) return;
  known->second = folder;
  // This belongs to a task that went elsewhere.
  inherited.erase("OLDPWD");
}

Variables task_variables(Variables inherited, const Variables& of_frameworks,
                         const std::optional<job::Gpus>& gpus, const Variables& of_job,
                         const Variables& of_task) {
  Variables variables = std::move(inherited);
  for (const auto& [name, value] : of_frameworks) variables[name] = value;
  if (gpus) set_gpus(*gpus, variables);
  for (const auto* users : {&of_job, &of_task}) {
    for (const auto& [name, value] : *users) {
      if (!frameworks::is_reserved(name)) variables[name] = value;
    }
  }
  return variables;
}

process::Stopping::How stopping_of(const job::JobSpec& spec) {
  return {.number = job::number_of(spec.stop_signal),
          .to_group = spec.stop_signal_to == job::StopSignalTo::kGroup};
}

// Only one process of a task can listen on its ports. What is let go of is not handed on: as long
// as anybody has a socket of it, a program without the options is refused.
std::vector<process::ListenFd> listening(const job::Ports& ports, const std::vector<int>& held,
                                         int process) {
  if (process != 0 || ports.hold != job::Hold::kUntilBind) return {};
  std::vector<process::ListenFd> sockets;
  for (const int fd : held) {
    const std::size_t number = sockets.size();
    sockets.push_back({fd, number < ports.names.size() ? ports.names[number] : "gangrun"});
  }
  return sockets;
}

}  // namespace gangrun::agent
