#include "base/format.h"
#include "frameworks/variables_of.h"

namespace gangrun::frameworks {

Variables jax_variables(const Place& place) {
  if (!place.ranks) return {};
  return {{"JAX_COORDINATOR_ADDRESS", job::to_string(place.ranks->first)},
          {"JAX_NUM_PROCESSES", base::format("{}", place.ranks->world_size)},
          {"JAX_PROCESS_ID", base::format("{}", place.ranks->rank)}};
}

}  // namespace gangrun::frameworks
