#pragma once

#include <memory>
#include <vector>

#include "cli/place.h"

namespace gangrun::cli {

// The places that there are, in the order in which errors and help list them. Who adds one adds its
// room, and one line in all_places.cc.
std::vector<std::unique_ptr<Place>> all_places();

}  // namespace gangrun::cli
