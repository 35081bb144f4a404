#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "job/gpus.h"
#include "job/spec.h"
#include "process/spawn.h"
#include "process/stopping.h"

// The environment of a process of the task.
namespace gangrun::agent {

using Variables = std::map<std::string, std::string>;

// Selects from the agent's own environment ("NAME=value") what says something true of the task.
Variables inherited_variables(const std::vector<std::string>& environment, bool runs_image);

// As a shell would that has gone to the folder: PWD, where it is inherited, names it. Another name
// of it that is inherited stays.
void name_working_folder(const std::string& folder, Variables& inherited);

// Combines what it inherits, then what the frameworks read, then its GPUs, then what the user set
// for the job and for the task; but GANGRUN_* are ours.
Variables task_variables(Variables inherited, const Variables& of_frameworks,
                         const std::optional<job::Gpus>& gpus, const Variables& of_job,
                         const Variables& of_task);

// The task's held ports that the process inherits, by their names.
std::vector<process::ListenFd> listening(const job::Ports& ports, const std::vector<int>& held,
                                         int process);

// How its processes are asked to end.
process::Stopping::How stopping_of(const job::JobSpec& spec);

}  // namespace gangrun::agent
