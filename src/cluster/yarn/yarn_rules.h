#pragma once

#include <string_view>

#include "job/place.h"

namespace gangrun::cluster {

// The value of `on` for it.
inline constexpr std::string_view kYarn = "yarn";

// The parts of a job that YARN takes, as far as that can be said without a cluster.
job::Place yarn_place();

}  // namespace gangrun::cluster
