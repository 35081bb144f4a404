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
#include "local/local_images.h"
#include "local/machine.h"

// The checks of this machine before a job is started on it: what is wrong here is bad input.
namespace gangrun::local::commands {

// Whether this machine has what the job needs to run on it: resources, programs that can be
// executed.
base::Result<> check_on_this_machine(const job::JobSpec& spec, const local::Machine& machine,
                                     const std::map<std::string, std::string>& environment,
                                     const std::string& folder);

// Whether this machine has an engine that has the images that the job's tasks run in, and can show
// these folders to their containers.
base::Result<> check_images_of(const job::JobSpec& spec,
                               const std::map<std::string, std::string>& environment,
                               const std::vector<std::string>& folders, base::Instant deadline);

// The container engine that tasks of this machine in images run by.
base::Result<std::string> engine_of(const std::map<std::string, std::string>& environment);

// Whether the hosts of the job can be used, from the master's address `wanted` where one is given.
base::Result<> check_hosts_of(const job::JobSpec& spec, const std::optional<std::string>& wanted);

// Whether a task asks for more than the default, so that somebody may expect it to be limited.
bool asks_for_memory_or_cores(const job::JobSpec& spec);

job::Gpus gpus_of_this_machine(const client::Context& context);
local::Machine this_machine(const job::Gpus& gpus);

}  // namespace gangrun::local::commands
