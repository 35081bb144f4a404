#pragma once

#include <memory>
#include <vector>

#include "client/place.h"
#include "job/place.h"

// The places that there are. Who adds one adds its room, and one line in places.cc.
namespace gangrun::places {

// In the order in which errors and help list them.
std::vector<std::unique_ptr<client::Place>> all();

// What they say of jobs.
const job::Places& rules();

}  // namespace gangrun::places
