#include "yarn/container_runtime.h"

#include <algorithm>
#include <vector>

#include "base/format.h"
#include "base/strings.h"
#include "yarn/yarn_options.h"

namespace gangrun::yarn {

namespace {

constexpr const char* kAllowedRuntimes = "yarn.nodemanager.runtime.linux.allowed-runtimes";
constexpr std::string_view kDocker = "docker";

bool allows_docker(const hadoop::Configuration& configuration) {
  const auto names = base::split(configuration.get_or(kAllowedRuntimes, "default"), ',');
  return std::ranges::any_of(names, [](const auto& name) { return base::trim(name) == kDocker; });
}

}  // namespace

ContainerRuntime container_runtime_of(const job::JobSpec& spec,
                                      const hadoop::Configuration& configuration) {
  using Runtime = ContainerRuntime;
  const Runtime wanted = yarn_of(spec).container_runtime;
  if (wanted != Runtime::kAuto) return wanted;
  return allows_docker(configuration) ? Runtime::kDocker : Runtime::kNone;
}

std::map<std::string, std::string> runtime_variables(const job::JobSpec& spec,
                                                     const std::string& image) {
  std::map<std::string, std::string> variables{
      {"YARN_CONTAINER_RUNTIME_TYPE", std::string(kDocker)},
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

}  // namespace gangrun::yarn
