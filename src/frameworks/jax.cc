#include <string>

#include "base/format.h"
#include "frameworks/variables_of.h"

namespace gangrun::frameworks {

namespace {

// The process's part of the task's GPUs, as indexes among them; empty where they do not suffice.
std::string device_ids(int gpus, int process, int processes) {
  if (gpus < processes) return {};
  const int each = gpus / processes;
  std::string ids;
  for (int id = process * each; id < (process + 1) * each; ++id) {
    ids += base::format("{}{}", ids.empty() ? "" : ",", id);
  }
  return ids;
}

}  // namespace

Variables jax_variables(const Place& place) {
  if (!place.ranks) return {};
  return {{"JAX_COORDINATOR_ADDRESS", job::to_string(place.ranks->first)},
          {"JAX_NUM_PROCESSES", base::format("{}", place.ranks->world_size)},
          {"JAX_PROCESS_ID", base::format("{}", place.ranks->rank)}};
}

// Open MPI comes before Slurm in JAX's list, so that gangrun's ranks count in an allocation of
// Slurm too. JAX looks whether the URI is there, and takes the address from
// JAX_COORDINATOR_ADDRESS.
Variables jax_detected_variables(const Place& place) {
  if (!place.ranks) return {};
  const Ranks& ranks = *place.ranks;
  Variables variables{
      {"OMPI_MCA_orte_hnp_uri", base::format("0.0;tcp://{}", job::to_string(ranks.first))},
      {"OMPI_COMM_WORLD_SIZE", base::format("{}", ranks.world_size)},
      {"OMPI_COMM_WORLD_RANK", base::format("{}", ranks.rank)},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", base::format("{}", ranks.local_world_size)},
      {"OMPI_COMM_WORLD_LOCAL_RANK", base::format("{}", ranks.local_rank)},
  };
  // Without it a process would use the one GPU that has its local rank's number.
  const std::string ids = device_ids(place.gpus, ranks.local_rank, ranks.local_world_size);
  if (!ids.empty()) variables["JAX_LOCAL_DEVICE_IDS"] = ids;
  return variables;
}

}  // namespace gangrun::frameworks
