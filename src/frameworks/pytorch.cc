#include "base/format.h"
#include "frameworks/variables_of.h"

namespace gangrun::frameworks {

Variables pytorch_variables(const Place& place) {
  if (!place.ranks) return {};
  const Ranks& ranks = *place.ranks;
  const auto number = [](auto value) { return base::format("{}", value); };
  Variables variables{
      {"MASTER_ADDR", ranks.first.host},
      {"MASTER_PORT", number(ranks.first.port)},
      {"RANK", number(ranks.rank)},
      {"WORLD_SIZE", number(ranks.world_size)},
      {"LOCAL_RANK", number(ranks.local_rank)},
      {"LOCAL_WORLD_SIZE", number(ranks.local_world_size)},
      {"GROUP_RANK", number(ranks.group_rank)},
      {"GROUP_WORLD_SIZE", number(ranks.group_world_size)},
      {"ROLE_NAME", place.task.type},
      {"ROLE_RANK", number(ranks.role_rank)},
      {"ROLE_WORLD_SIZE", number(ranks.role_world_size)},
      {"TORCHELASTIC_RESTART_COUNT", number(place.inputs.restarts)},
      {"TORCHELASTIC_MAX_RESTARTS", number(place.inputs.job.restarts.max)},
      {"TORCHELASTIC_RUN_ID", place.inputs.job_id},
      // With "True", rank 0 would look for a store at MASTER_ADDR instead of serving it there
      // itself.
      {"TORCHELASTIC_USE_AGENT_STORE", "False"},
  };
  // Several processes that each take all cores are slower than one thread each.
  if (ranks.local_world_size > 1 && !place.inputs.inherits_omp_num_threads) {
    variables.emplace("OMP_NUM_THREADS", "1");
  }
  return variables;
}

}  // namespace gangrun::frameworks
