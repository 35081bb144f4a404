#pragma once

#include <string_view>

#include "job/place.h"

namespace gangrun::cluster {

// The value of `on` for this machine.
inline constexpr std::string_view kLocal = job::kDefaultPlace;

// The parts of a job that this machine takes, whatever it has.
job::Place local_place();

}  // namespace gangrun::cluster
