#include "cluster/place_part.h"

#include "job/described.h"

namespace gangrun::cluster {

void set(const PlacePart& part, base::Json& agent_config) {
  agent_config.update(base::to_json(part));
}

PlacePart place_part_of(const base::Json& agent_config) {
  return base::from_json<PlacePart>(agent_config).value_or(PlacePart{});
}

}  // namespace gangrun::cluster
