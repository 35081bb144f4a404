#pragma once

#include <string_view>

#include "jobfile/place_rules.h"
#include "yarn/yarn_options.h"

namespace gangrun::yarn {

// The parts of a job that YARN takes, as far as that can be said without a cluster.
jobfile::PlaceRules yarn_rules();

}  // namespace gangrun::yarn
