#pragma once

#include <string_view>

#include "client/place.h"
#include "job/spec.h"

namespace gangrun::local::commands {

// The value of `on` for this machine.
inline constexpr std::string_view kLocal = job::kDefaultPlace;

// This machine.
client::Place local_place();

}  // namespace gangrun::local::commands
