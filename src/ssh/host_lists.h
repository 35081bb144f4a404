#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/spec.h"

// Hosts as other programs list them. Each is given once, in the order of the list, with its slots
// where the list has them.
namespace gangrun::ssh {

// A hostfile of MPI, Horovod, DeepSpeed or ours: a line each, `NAME`, `NAME:SLOTS` or `NAME
// slots=SLOTS`; "#" begins a comment.
base::Result<std::vector<job::Host>> hosts_of_file(std::string_view text);

// Slurm's: "gpu[01-03,7],login1" of SLURM_JOB_NODELIST, and "8(x2),4" of SLURM_TASKS_PER_NODE,
// which may be empty.
base::Result<std::vector<job::Host>> hosts_of_nodelist(std::string_view nodelist,
                                                       std::string_view tasks_per_node);

// A name for each slot: a line each in PBS's file, or words in LSB_HOSTS.
base::Result<std::vector<job::Host>> hosts_of_names(std::string_view text);

struct BatchHosts {
  std::string source;  // "SLURM_JOB_NODELIST"
  std::vector<job::Host> hosts;
};

// Those that the batch system has given to the job in which `environment` was made: Slurm, PBS or
// LSF. None: it was made in no job of theirs.
base::Result<std::optional<BatchHosts>> hosts_of_batch_system(
    const std::map<std::string, std::string>& environment,
    const std::function<base::Result<std::string>(const std::string&)>& read_file);

}  // namespace gangrun::ssh
