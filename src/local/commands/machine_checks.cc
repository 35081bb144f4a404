#include "local/commands/machine_checks.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/format.h"
#include "base/strings.h"
#include "client/prepare.h"
#include "client/text.h"
#include "job/units.h"
#include "jobfile/container.h"
#include "jobfile/place_rules.h"
#include "local/host_network.h"
#include "local/machine_gpus.h"
#include "net/hosts.h"
#include "process/engine.h"
#include "process/spawn.h"

namespace gangrun::local::commands {

namespace {

using base::Result;

constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

bool is_program_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

// Why `program` cannot be executed; empty if it can.
std::string program_problem(const std::string& program, const std::string& path_variable,
                            const std::string& folder) {
  if (program.find('/') != std::string::npos) {
    const std::string path = client::in_folder(folder, program);
    if (is_program_file(path)) return {};
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return base::format("there is no {}", path);
    return base::format("{} is not an executable file{}", path,
                        process::start_hint(program, folder));
  }
  for (const std::string& entry : base::split(path_variable, ':')) {
    const std::string path = entry.empty() ? program : base::format("{}/{}", entry, program);
    if (is_program_file(client::in_folder(folder, path))) return {};
  }
  return base::format("not found in PATH ({}){}", base::shorten(path_variable, 200),
                      process::start_hint(program, folder));
}

std::string path_variable_of(const job::JobSpec& spec, const job::TaskSpec& task,
                             const std::map<std::string, std::string>& environment) {
  for (const auto* variables : {&task.environment, &spec.environment, &environment}) {
    const auto found = variables->find("PATH");
    if (found != variables->end()) return found->second;
  }
  return std::string(kDefaultPath);
}

Result<> check_programs(const job::JobSpec& spec,
                        const std::map<std::string, std::string>& environment,
                        const std::string& folder) {
  for (const job::TaskSpec& task : spec.tasks) {
    const job::Command& command = spec.command_of(task);
    // Only the shell knows what a shell line needs.
    if (command.words.empty()) continue;
    // Only a container sees what is in its image.
    if (!spec.image_of(task).empty()) continue;
    const std::string problem =
        program_problem(command.words.front(), path_variable_of(spec, task, environment), folder);
    if (problem.empty()) continue;
    return base::invalid_argument(base::format("the command of {} cannot be executed: {}: {}",
                                               task.type, job::in_quotes(command.words.front()),
                                               problem));
  }
  return {};
}

}  // namespace

Result<> check_on_this_machine(const job::JobSpec& spec, const local::Machine& machine,
                               const std::map<std::string, std::string>& environment,
                               const std::string& folder) {
  const Result<> fits = local::check_fits(spec, machine);
  if (!fits.ok()) return client::as_bad_input(fits.error());
  return check_programs(spec, environment, folder);
}

Result<> check_images(const job::JobSpec& spec, const Result<std::string>& engine,
                      base::Instant deadline) {
  for (const std::string& image : jobfile::images_of(spec)) {
    const std::string field = base::format("image: '{}'", image);
    if (!engine.ok()) return client::as_bad_input(engine.error().context(field));
    const auto answer =
        process::ask({*engine, "image", "inspect", "--format", "{{.Id}}", image}, deadline);
    if (!answer.ok()) return client::as_bad_input(answer.error().context(field));
    if (answer->status == 0) continue;
    // The list of what it found, which is empty, comes before what it says.
    const std::size_t start = answer->output.find_first_not_of("[] \n");
    const std::string said(base::trim(
        std::string_view(answer->output).substr(std::min(start, answer->output.size()))));
    return base::invalid_argument(base::format(
        "{} cannot be run on this machine; allowed: an image that {} has here (it says: {})", field,
        *engine, said));
  }
  return {};
}

Result<> check_images_of(const job::JobSpec& spec,
                         const std::map<std::string, std::string>& environment,
                         const std::vector<std::string>& folders, base::Instant deadline) {
  if (jobfile::images_of(spec).empty()) return {};
  for (const std::string& folder : folders) {
    if (base::is_valid_utf8(folder)) continue;
    return base::invalid_argument(
        base::format("image: containers need the folder {}, whose name is not UTF-8, and engines "
                     "take nothing else; allowed: another working folder and GANGRUN_HOME",
                     client::path_in_quotes(folder)));
  }
  if (!spec.hosts.empty()) {
    return base::invalid_argument(
        "image: is not possible with `hosts:`, whose networks an engine cannot be given; allowed: "
        "one of them");
  }
  return check_images(spec, engine_of(environment), deadline);
}

Result<std::string> engine_of(const std::map<std::string, std::string>& environment) {
  const auto value = [&environment](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  return process::find_engine(value(process::kEngineVariable), value("PATH"));
}

Result<> check_hosts_of(const job::JobSpec& spec, const std::optional<std::string>& wanted) {
  if (spec.hosts.empty()) return {};
  const bool is_reached =
      !wanted || (net::is_numeric_address(*wanted) && !net::is_loopback_address(*wanted));
  if (!is_reached) {
    return base::invalid_argument(base::format(
        "--host: {} cannot be reached from hosts; allowed with hosts: an address of this machine "
        "({})",
        job::in_quotes(*wanted), base::join(net::local_addresses(), ", ")));
  }
  const Result<> checked = local::check_hosts(spec.hosts, wanted.value_or(""), spec.interface);
  return checked.ok() ? checked : client::as_bad_input(checked.error().context("hosts"));
}

job::Gpus gpus_of_this_machine(const client::Context& context) {
  return local::usable_gpus(local::system_gpu_sources(), context.environment);
}

bool asks_for_memory_or_cores(const job::JobSpec& spec) {
  const job::Resources usual;
  return std::any_of(spec.tasks.begin(), spec.tasks.end(), [&usual](const job::TaskSpec& task) {
    for (int index = 0; index < task.slots(); ++index) {
      const job::Resources asked = task.resources_of(index);
      if (asked.memory_mib != usual.memory_mib || asked.vcores != usual.vcores) return true;
    }
    return false;
  });
}

std::string outputs_remark(const job::JobSpec& spec) {
  if (!jobfile::find_asked(spec, jobfile::Feature::kOutputs)) return {};
  return "what `outputs` names stays where the tasks write it; on this machine nothing is brought";
}

}  // namespace gangrun::local::commands
