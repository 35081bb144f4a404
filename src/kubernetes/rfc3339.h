#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace gangrun::kubernetes {

// A time as Kubernetes writes it: "2026-01-31T12:00:00Z", also with fractions of a second, or
// "+01:00" for "Z". None where it is something else, or before 1970.
std::optional<base::WallTime> parse_rfc3339(std::string_view text);

// Whether it begins with such a time, as far as to the second.
bool begins_as_rfc3339(std::string_view text);

}  // namespace gangrun::kubernetes
