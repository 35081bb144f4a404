#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/gpus.h"
#include "job/spec.h"
#include "process/container_report.h"
#include "process/engine.h"
#include "process/exit.h"
#include "process/spawn.h"
#include "wire/agent_config.h"

// A task in the container of an image that the agent has an engine run (docs/containers.md).
namespace gangrun::agent {

// The path of an agent's program in such a container.
inline constexpr std::string_view kFirstProgram = "/.gangrun-agent";

struct ImageRun {
  std::string engine;
  std::string name;  // of the container
  std::string image;
  std::string agent_program;  // which is the container's first process
  std::string working_folder;
  std::string environment_file;
  std::string report_file;
  std::vector<job::Mount> mounts;  // as merged() gives them
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> more_groups;
  job::Gpus gpus;
  job::StopSignal stop_signal = job::StopSignal::kTerm;
  job::StopSignalTo stop_signal_to = job::StopSignalTo::kProcess;
  std::vector<std::string> command;
};

// The command line of the engine's client. Nothing of the task's environment is in it.
std::vector<std::string> engine_argv(const ImageRun& run);

// In a container that has been given only these, their numbers begin at 0.
job::Gpus as_seen_inside(job::Gpus gpus);

// Whether a variable of the agent's own environment says something true inside an image: what names
// the place and the user. PATH and its like are the image's.
bool passes_into_image(std::string_view name);

// The mounts for a container of YARN's beside its folder: its application's folders and the caches
// of files that links in it lead to. From the values of LOCAL_DIRS and LOG_DIRS.
std::vector<job::Mount> mounts_of_yarn(std::string_view local_folders,
                                       std::string_view log_folders);

// One for each path: the last counts.
std::vector<job::Mount> merged(const std::vector<job::Mount>& mounts);

// How the user's program ended, from how the engine's client did and what the container told.
struct ImageExit {
  process::Exit exit;
  std::string could_not_start;  // why, else empty
};
ImageExit image_exit(const process::Exit& client,
                     const std::optional<process::ContainerReport>& report,
                     const std::vector<std::string>& last_lines);

// The path of the files between an agent and its task's processes, without their endings; processes
// in a container reach them too.
std::string private_prefix(const wire::AgentConfig& config);

// The file in which the container of one process tells how it does, for a task that runs in an
// image.
std::string container_report_path(const wire::AgentConfig& config, int process);

// Takes away what containers that did not start have not read. After the run.
void remove_environments(const wire::AgentConfig& config);

// Writes the process's environment where only its container's first process finds it, and gives the
// engine's client to start, without its outputs and its input, which is the container's lifeline.
base::Result<process::SpawnOptions> client_for(const wire::AgentConfig& config,
                                               const process::EngineContainers& containers,
                                               const std::map<std::string, std::string>& variables,
                                               int process);

}  // namespace gangrun::agent
