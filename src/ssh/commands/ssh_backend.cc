#include "ssh/commands/ssh_backend.h"

#include <utility>

#include "base/file_tree.h"
#include "base/format.h"
#include "base/strings.h"
#include "base/variable.h"
#include "client/prepare.h"
#include "jobfile/shipped_files.h"
#include "ssh/host_addresses.h"
#include "ssh/ssh_options.h"

namespace gangrun::ssh::commands {

namespace {

using base::Result;

// Tasks go on alone for so long unless the job sets it: the network may come back.
constexpr std::chrono::seconds kDefaultMasterLost(60);
// How many hosts an error names.
constexpr std::size_t kMaxNamed = 3;
// The variables that a Python environment on a shared disk needs, and no more: all else is a host's
// own.
constexpr const char* kSharedVariables[] = {"PATH",        "PYTHONPATH",   "LD_LIBRARY_PATH",
                                            "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV"};

std::map<std::string, std::string> shared_environment() {
  std::map<std::string, std::string> environment;
  for (const char* name : kSharedVariables) {
    if (const std::string value = base::variable(name); !value.empty()) environment[name] = value;
  }
  return environment;
}

// One sentence for all hosts that did not come.
Result<> troubles_of(ssh::HostLinks& links) {
  std::string first;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const auto& trouble = links.trouble(i);
    if (!trouble) continue;
    if (first.empty()) {
      first = trouble->message;
    } else {
      others.push_back(links.at(i).host());
    }
  }
  if (first.empty()) return {};
  if (others.empty()) return base::unavailable(first);
  return base::unavailable(
      base::format("{} ({} {} not come either: {})", first,
                   base::count_text(static_cast<std::int64_t>(others.size()), "other host"),
                   others.size() == 1 ? "has" : "have", base::first_and_more(others, kMaxNamed)));
}

int tasks_of(const job::JobSpec& spec) {
  int tasks = 0;
  for (const job::TaskSpec& task : spec.tasks) tasks += task.slots();
  return tasks;
}

}  // namespace

base::Result<std::vector<ssh::HostFile>> host_files(const job::JobSpec& spec,
                                                    const std::string& folder) {
  GANGRUN_ASSIGN(const auto shipped, jobfile::shipped_files(spec, folder, client::kind_of));
  base::FileTree tree({});
  for (const jobfile::LocalFile& file : shipped.local) {
    auto added = tree.add(file.name, file.path);
    if (!added.ok())
      return base::invalid_argument(base::format("files: {}", added.error().message));
  }
  std::vector<ssh::HostFile> files;
  for (const auto& [name, entry] : tree.entries()) {
    GANGRUN_TRY(jobfile::check_file_name(name));
    if (entry.is_folder) {
      files.push_back({.path = {}, .name = name, .size = 0, .is_folder = true});
    } else {
      files.push_back({.path = entry.path,
                       .name = name,
                       .size = entry.size,
                       .is_executable = entry.is_program});
    }
  }
  return files;
}

Result<std::unique_ptr<ssh::HostLinks>> make_links(net::EventLoop& loop, const job::JobSpec& spec,
                                                   const std::string& agent_program,
                                                   const std::string& working_folder) {
  ssh::LinkOptions options;
  options.ssh.config = ssh::ssh_of(spec).config;
  GANGRUN_ASSIGN(options.agent, ssh::read_agent_file(agent_program));
  options.login.folder = ssh::ssh_of(spec).folder;
  options.login.working_folder = working_folder;
  options.login.interface = spec.interface;
  options.login.containment = spec.containment;
  std::vector<std::string> names;
  for (const job::Host& host : spec.hosts) names.push_back(host.name);
  return std::make_unique<ssh::HostLinks>(loop, names, std::move(options));
}

Result<> SshBackend::reach(net::EventLoop& loop, const base::Clock& clock, const job::JobSpec& spec,
                           const std::function<bool()>& is_cancelled) {
  if (agent_program_.empty()) return {};
  GANGRUN_ASSIGN(links_, make_links(loop, spec, agent_program_, working_folder_));
  const bool in_time = links_->open_all(clock.now() + kLoginLimit, is_cancelled);
  if (is_cancelled()) return base::Error{base::Code::kCancelled, "stopped"};
  if (!in_time) {
    return base::deadline_exceeded(
        base::format("not all hosts were logged in to within {}", base::to_words(kLoginLimit)));
  }
  GANGRUN_TRY(troubles_of(*links_));
  std::vector<int> gpus;
  std::vector<ssh::SeenHost> seen;
  for (std::size_t i = 0; i < links_->size(); ++i) {
    const ssh::HostLink& link = links_->at(i);
    GANGRUN_TRY(ssh::check_engine(spec, link.host(), link.hello()));
    gpus.push_back(static_cast<int>(link.hello().gpus.list.size()));
    seen.push_back(ssh::seen_host(link.host(), link.hello()));
  }
  GANGRUN_TRY(ssh::choose_addresses(seen, spec.interface));
  return ssh::check_gpus(spec, gpus);
}

std::chrono::milliseconds SshBackend::master_lost(const job::JobSpec& /*spec*/,
                                                  bool /*tasks_outlive_us*/) const {
  return kDefaultMasterLost;
}

Result<host::MadeTasks> SshBackend::make_tasks(const host::BackendInput& input) {
  const host::Ground& ground = input.ground;
  if (links_ == nullptr) {
    GANGRUN_ASSIGN(links_, make_links(ground.loop, input.spec, input.launch.agent_program,
                                      input.launch.working_folder));
  }
  const host::JobPaths& paths = input.folder.paths();
  ssh::SshLauncher::Options options;
  options.job_id = input.folder.id();
  options.hosts = input.spec.hosts;
  options.tasks = tasks_of(input.spec);
  options.master_socket = paths.socket();
  options.log_folder = paths.logs();
  options.master_log = paths.master_log();
  options.master_lost = ground.master_lost;
  options.agents_outlive_us = input.tasks_outlive_us;
  options.is_first_master = ground.is_first;
  options.environment = shared_environment();
  options.interface = input.spec.interface;
  for (const job::TaskSpec& task : input.spec.tasks) {
    options.outputs[task.type] = input.spec.outputs_of(task);
  }
  options.outputs_limit =
      static_cast<std::uint64_t>(input.spec.outputs_limit_mib.value_or(ssh::kDefaultOutputsMib))
      << 20U;
  options.keep_folders = input.spec.keep_folders;
  // It is told when it is known where these folders are.
  options.remark = input.launch.remark;
  options.output_folder = paths.outputs();
  options.hosts_file = paths.hosts();
  GANGRUN_ASSIGN(options.files, host_files(input.spec, input.launch.working_folder));
  auto launcher = std::make_unique<ssh::SshLauncher>(ground.loop, ground.logger, std::move(links_),
                                                     std::move(options));
  launcher_ = launcher.get();
  agents::AgentsOptions agents = host::agents_options(input);
  agents.launch.are_away = true;
  return host::MadeTasks{.tasks = std::make_unique<agents::Agents>(
                             ground.loop, ground.clock, ground.logger, ground.server,
                             std::move(launcher), std::move(agents))};
}

Result<> SshBackend::clear(net::EventLoop& /*loop*/,
                           const std::function<void(const std::string&)>& /*tell*/,
                           const std::function<bool()>& /*is_left*/) {
  return launcher_ == nullptr ? Result<>() : launcher_->end();
}

}  // namespace gangrun::ssh::commands
