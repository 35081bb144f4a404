#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "client/context.h"
#include "job/gpus.h"
#include "job/spec.h"
#include "local/this_machine.h"

// The checks of this machine before a job is started on it: what is wrong here is bad input.
namespace gangrun::local::commands {

// Whether this machine has what the job needs to run on it: resources, programs that can be
// executed.
base::Result<> check_on_this_machine(const job::JobSpec& spec, const local::Machine& machine,
                                     const std::map<std::string, std::string>& environment,
                                     const std::string& folder);

// Whether `engine` (engine_of()) has every image of the job on this machine: nothing is fetched
// while a job waits. The error names the field, the image and what the engine says.
base::Result<> check_images(const job::JobSpec& spec, const base::Result<std::string>& engine,
                            base::Instant deadline);
// The same, and whether the engine can show these folders to the tasks' containers.
base::Result<> check_images_of(const job::JobSpec& spec,
                               const std::map<std::string, std::string>& environment,
                               const std::vector<std::string>& folders, base::Instant deadline);

// The container engine that tasks of this machine in images run by.
base::Result<std::string> engine_of(const std::map<std::string, std::string>& environment);

// Whether the hosts of the job can be used, from the master's address `wanted` where one is given.
base::Result<> check_hosts_of(const job::JobSpec& spec, const std::optional<std::string>& wanted);

// Whether a task asks for more than the default, so that somebody may expect it to be limited.
bool asks_for_memory_or_cores(const job::JobSpec& spec);

// The sentence for somebody who names `outputs`, which are not brought from tasks here; empty: the
// job names none.
std::string outputs_remark(const job::JobSpec& spec);

job::Gpus gpus_of_this_machine(const client::Context& context);

}  // namespace gangrun::local::commands
