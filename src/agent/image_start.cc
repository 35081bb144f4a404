#include "agent/image_start.h"

#include <grp.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>
#include <vector>

#include "agent/image_run.h"
#include "base/files.h"
#include "base/format.h"
#include "base/variable.h"

namespace gangrun::agent {

namespace {

namespace fs = std::filesystem;

constexpr std::array kMountedHomes{"HADOOP_HOME",      "HADOOP_COMMON_HOME", "HADOOP_HDFS_HOME",
                                   "HADOOP_YARN_HOME", "HADOOP_CONF_DIR",    "JAVA_HOME"};
// The number that groups without one of their own have in a user namespace.
constexpr gid_t kNobodysGroup = 65534;

bool is_in_yarn() { return !base::variable("CONTAINER_ID").empty(); }

std::string environment_path(const wire::AgentConfig& config, int process) {
  return base::format("{}.environment-{}", private_prefix(config), process);
}

std::vector<job::Mount> mounts_of(const wire::AgentConfig& config,
                                  const std::map<std::string, std::string>& variables) {
  std::vector<job::Mount> wanted;
  const auto add_existing = [&wanted](const job::Mount& mount) {
    std::error_code failed;
    if (mount.path.starts_with('/') && fs::exists(mount.path, failed)) wanted.push_back(mount);
  };
  for (const char* name : kMountedHomes) {
    const auto value = variables.find(name);
    if (value != variables.end()) add_existing({value->second, true});
  }
  if (is_in_yarn()) {
    for (const auto& mount :
         mounts_of_yarn(base::variable("LOCAL_DIRS"), base::variable("LOG_DIRS"))) {
      add_existing(mount);
    }
  }
  wanted.push_back({config.working_folder, false});
  wanted.push_back({fs::path(config.log_prefix).parent_path().string(), false});
  // A missing one of these is the engine's error.
  wanted.insert(wanted.end(), config.spec.mounts.begin(), config.spec.mounts.end());
  return merged(wanted);
}

std::vector<gid_t> more_groups() {
  const int count = ::getgroups(0, nullptr);
  std::vector<gid_t> groups(count > 0 ? static_cast<std::size_t>(count) : 0U);
  if (count > 0 && ::getgroups(count, groups.data()) != count) groups.clear();
  std::erase_if(groups, [](gid_t group) { return group == ::getgid() || group == kNobodysGroup; });
  return groups;
}

base::Result<std::string> own_program() {
  std::error_code failed;
  std::string path = fs::read_symlink("/proc/self/exe", failed).string();
  if (failed) return base::from_errno(failed.value(), "/proc/self/exe");
  return path;
}

}  // namespace

// Not among YARN's logs, which it collects.
std::string private_prefix(const wire::AgentConfig& config) {
  if (!is_in_yarn()) return config.log_prefix;
  return base::format("{}/.{}", config.working_folder,
                      fs::path(config.log_prefix).filename().string());
}

std::string container_report_path(const wire::AgentConfig& config, int process) {
  return base::format("{}.container-{}.json", private_prefix(config), process);
}

void remove_environments(const wire::AgentConfig& config) {
  const int processes = config.spec.find(config.task.type)->processes;
  for (int process = 0; process < processes; ++process) {
    (void)::unlink(environment_path(config, process).c_str());
  }
}

base::Result<process::SpawnOptions> client_for(const wire::AgentConfig& config,
                                               const process::EngineContainers& containers,
                                               const std::map<std::string, std::string>& variables,
                                               int process) {
  const job::TaskSpec& task = *config.spec.find(config.task.type);
  ImageRun run;
  run.image = config.spec.image_of(task);
  // Found already where there is one; else the error says what was looked for.
  auto engine =
      process::find_engine(base::variable(process::kEngineVariable), base::variable("PATH"));
  if (!engine.ok()) return engine.error().context(base::format("image: '{}'", run.image));
  run.engine = *std::move(engine);
  run.name = containers.names.at(static_cast<std::size_t>(process));
  GANGRUN_ASSIGN(run.agent_program, own_program());
  run.working_folder = config.working_folder;
  run.environment_file = environment_path(config, process);
  run.report_file = container_report_path(config, process);
  run.mounts = mounts_of(config, variables);
  run.user = ::getuid();
  run.group = ::getgid();
  run.more_groups = more_groups();
  if (config.gpus) run.gpus = *config.gpus;
  run.stop_signal = config.spec.stop_signal;
  run.stop_signal_to = config.spec.stop_signal_to;
  run.command = config.spec.command_of(task).argv();
  std::string environment;
  for (const auto& [name, value] : variables) {
    environment += base::format("{}={}", name, value);
    environment += '\0';
  }
  GANGRUN_TRY(base::write_file_atomically(run.environment_file, environment, 0600));
  // These may be left from an earlier run.
  (void)::unlink(run.report_file.c_str());
  process::SpawnOptions options;
  options.argv = engine_argv(run);
  options.environment = process::inherited_environment();
  return options;
}

}  // namespace gangrun::agent
