#include "agent/image_run.h"

#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "base/files.h"
#include "base/format.h"
#include "base/signal_status.h"
#include "base/strings.h"
#include "base/variable.h"

namespace gangrun::agent {

namespace {

constexpr std::array<std::string_view, 14> kPassed{
    "CLASSPATH",       "CONTAINER_ID", "JAVA_HOME", "LANG",    "LOCAL_DIRS",
    "LOCAL_USER_DIRS", "LOGNAME",      "LOG_DIRS",  "NM_HOST", "NM_HTTP_PORT",
    "NM_PORT",         "PYTHONPATH",   "TZ",        "USER"};

// A field of a list with commas, as the engines read it: CSV.
std::string field(std::string_view name, std::string_view value) {
  std::string text = base::format("{}={}", name, value);
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char character : text) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + '"';
}

std::string mount_text(std::string_view path, std::string_view seen_as, bool read_only) {
  return base::format("type=bind,{},{}{}", field("source", path), field("target", seen_as),
                      read_only ? ",readonly" : "");
}

bool is_podman(std::string_view engine) {
  return engine.substr(engine.rfind('/') + 1).starts_with("podman");
}

std::string parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

// The line of an engine's output that says what went wrong.
std::string complaint(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (line.starts_with("docker: ") || line.starts_with("Error")) return line;
  }
  return lines.empty() ? "" : lines.back();
}

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

std::vector<std::string> engine_argv(const ImageRun& run) {
  std::vector<std::string> argv{
      run.engine, "run",   "--rm", "--interactive", "--name", run.name,    "--network",
      "host",     "--ipc", "host", "--log-driver",  "none",   "--workdir", run.working_folder};
  const auto add = [&argv](std::string_view flag, std::string value) {
    argv.emplace_back(flag);
    argv.push_back(std::move(value));
  };
  add("--user", base::format("{}:{}", run.user, run.group));
  for (const gid_t group : run.more_groups) add("--group-add", std::to_string(group));
  // Without it podman gives another user than root other numbers outside.
  if (run.user != 0 && is_podman(run.engine)) add("--userns", "keep-id");
  for (const job::Mount& mount : run.mounts) {
    add("--mount", mount_text(mount.path, mount.path, mount.read_only));
  }
  add("--mount", mount_text(run.agent_program, kFirstProgram, true));
  if (run.gpus.maker == job::GpuMaker::kNvidia && !run.gpus.list.empty()) {
    add("--gpus", base::format("\"device={}\"", job::names_of(run.gpus)));
  } else if (!run.gpus.list.empty()) {
    add("--device", "/dev/kfd");
    for (const job::Gpu& gpu : run.gpus.list) add("--device", "/dev/" + gpu.device);
  }
  add("--entrypoint", std::string(kFirstProgram));
  argv.push_back(run.image);
  argv.insert(argv.end(), {"inside", run.environment_file, run.report_file,
                           std::string(to_string(run.stop_signal)),
                           std::string(to_string(run.stop_signal_to))});
  argv.insert(argv.end(), run.command.begin(), run.command.end());
  return argv;
}

job::Gpus as_seen_inside(job::Gpus gpus) {
  for (std::size_t index = 0; index < gpus.list.size(); ++index) {
    std::string& name = gpus.list[index].name;
    if (base::parse_integer(name)) name = std::to_string(index);
  }
  return gpus;
}

bool passes_into_image(std::string_view name) {
  return name.starts_with("HADOOP_") || name.starts_with("LC_") ||
         std::find(kPassed.begin(), kPassed.end(), name) != kPassed.end();
}

// LOCAL_DIRS lists ROOT/usercache/USER/appcache/APPLICATION for every disk.
std::vector<job::Mount> mounts_of_yarn(std::string_view local_folders,
                                       std::string_view log_folders) {
  std::vector<job::Mount> mounts;
  for (const std::string& folder : base::split(local_folders, ',')) {
    if (folder.empty()) continue;
    mounts.push_back({folder, false});
    const std::string user = parent_of(parent_of(folder));
    const std::string root = parent_of(parent_of(user));
    if (root.empty()) continue;
    mounts.push_back({user + "/filecache", true});
    mounts.push_back({root + "/filecache", true});
  }
  for (const std::string& folder : base::split(log_folders, ',')) {
    if (!folder.empty()) mounts.push_back({folder, false});
  }
  return mounts;
}

std::vector<job::Mount> merged(const std::vector<job::Mount>& mounts) {
  std::vector<job::Mount> kept;
  for (const job::Mount& mount : mounts) {
    std::erase_if(kept, [&](const job::Mount& other) { return other.path == mount.path; });
    kept.push_back(mount);
  }
  return kept;
}

ImageExit image_exit(const process::Exit& client,
                     const std::optional<process::ContainerReport>& report,
                     const std::vector<std::string>& last_lines) {
  if (report && !report->error.empty()) return {client, report->error};
  if (report && report->exit) return {*report->exit, {}};
  // The client was killed, or the container was, by whom nobody says.
  constexpr int kOfASignal = 128;
  const bool by_signal = client.signal != 0 || client.code > kOfASignal;
  if (report || by_signal) {
    process::Exit exit = client;
    if (client.signal == 0 && client.code > base::kSignalStatus) {
      exit.signal = client.code - base::kSignalStatus;
      exit.code = 0;
    }
    // It told no end: never a success.
    if (exit.succeeded()) exit.code = 1;
    return {exit, {}};
  }
  const std::string said = complaint(last_lines);
  return {client, said.empty() ? "the container engine " + client.to_words() : said};
}

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
  GANGRUN_ASSIGN(run.engine, process::find_engine(base::variable(process::kEngineVariable),
                                                  base::variable("PATH"))
                                 .context(base::format("image: '{}'", run.image)));
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
