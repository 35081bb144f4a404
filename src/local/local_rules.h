#pragma once

#include <string_view>

#include "jobfile/place_rules.h"

namespace gangrun::local {

// The value of `on` for this machine.
inline constexpr std::string_view kLocal = job::kDefaultPlace;

// The parts of a job that this machine takes, whatever it has.
jobfile::PlaceRules local_rules();

}  // namespace gangrun::local
