#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace gangrun::cli {

// A day or a time of one, in UTC, as users write it: "2026-01-31", "2026-01-31T12:00",
// "2026-01-31T12:00:00", that with milliseconds, and each time with or without a Z.
std::optional<base::WallTime> moment_from(std::string_view text);

}  // namespace gangrun::cli
