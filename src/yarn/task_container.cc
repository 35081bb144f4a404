#include "yarn/task_container.h"

#include <algorithm>
#include <vector>

#include "base/format.h"
#include "jobfile/place_rules.h"

namespace gangrun::yarn {

namespace {

constexpr const char* kAllowedRuntimes = "yarn.nodemanager.runtime.linux.allowed-runtimes";
constexpr const char* kDocker = "docker";

}  // namespace

hadoop::Resource resource_of(const job::Resources& resources) {
  hadoop::Resource resource;
  resource.memory_mib = resources.memory_mib > 0 ? resources.memory_mib : kDefaultMemoryMib;
  resource.vcores = resources.vcores;
  resource.others = resources.others;
  if (resources.gpus > 0) resource.others[kGpuResource] = resources.gpus;
  return resource;
}

ContainerRuntime container_runtime_of(const job::JobSpec& spec,
                                      const hadoop::Configuration& configuration) {
  const ContainerRuntime wanted = yarn_of(spec).container_runtime;
  if (wanted != ContainerRuntime::kAuto) return wanted;
  const bool allows_docker = std::ranges::count(configuration.list(kAllowedRuntimes), kDocker) > 0;
  return allows_docker ? ContainerRuntime::kDocker : ContainerRuntime::kNone;
}

std::map<std::string, std::string> runtime_variables(const job::JobSpec& spec,
                                                     const std::string& image) {
  std::map<std::string, std::string> variables{
      {"YARN_CONTAINER_RUNTIME_TYPE", kDocker},
      {"YARN_CONTAINER_RUNTIME_DOCKER_IMAGE", image},
      {"YARN_CONTAINER_RUNTIME_DOCKER_CONTAINER_NETWORK", "host"}};
  std::vector<std::string> mounts;
  for (const job::Mount& mount : spec.mounts) {
    mounts.push_back(base::format("{0}:{0}:{1}", mount.path, mount.read_only ? "ro" : "rw"));
  }
  if (!mounts.empty()) {
    variables["YARN_CONTAINER_RUNTIME_DOCKER_MOUNTS"] = base::format("{}", base::join(mounts, ","));
  }
  return variables;
}

bool has_outputs(const job::JobSpec& spec) {
  return jobfile::find_asked(spec, jobfile::Feature::kOutputs).has_value();
}

std::string where_containers_work(const job::JobSpec& spec, const std::string& outputs) {
  return base::format(
      "tasks work in the folders of their containers, which YARN removes at the end: {}",
      has_outputs(spec)
          ? base::format("what `outputs` names goes to {}, for `gangrun fetch`", outputs)
          : "write what is to stay to a file system that all see, or name it in `outputs`");
}

}  // namespace gangrun::yarn
