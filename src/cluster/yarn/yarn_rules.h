#pragma once

#include <string_view>

#include "job/place.h"

namespace gangrun::cluster {

// What `on` says for it.
inline constexpr std::string_view kYarn = "yarn";

// What of a job YARN takes, as far as that can be said without a cluster.
job::Place yarn_place();

}  // namespace gangrun::cluster
