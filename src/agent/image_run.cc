#include "agent/image_run.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/signal_status.h"
#include "base/strings.h"

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
  const bool by_signal = client.kind == process::Exit::Kind::kSignaled || client.code > kOfASignal;
  if (report || by_signal) {
    process::Exit exit = client;
    if (client.kind == process::Exit::Kind::kExited && client.code > base::kSignalStatus) {
      exit.kind = process::Exit::Kind::kSignaled;
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

}  // namespace gangrun::agent
