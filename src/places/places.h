#pragma once

#include "job/place.h"

// The places that there are. Who adds one adds its room, and one line in places.cc.
namespace gangrun::places {

// What each says of jobs, in the order in which errors and help list them.
const job::Places& rules();

}  // namespace gangrun::places
