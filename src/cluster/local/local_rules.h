#pragma once

#include <string_view>

#include "job/place.h"

namespace gangrun::cluster {

// What `on` says for this machine.
inline constexpr std::string_view kLocal = job::kDefaultPlace;

// What of a job this machine takes, whatever it has.
job::Place local_place();

}  // namespace gangrun::cluster
