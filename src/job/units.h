#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gangrun::job {

inline constexpr std::int64_t kMaxMemoryMib = std::int64_t{64} << 20U;  // 64 TiB
// No time of a job is longer.
inline constexpr std::chrono::milliseconds kMaxDuration = std::chrono::hours(24 * 365);

// "2 GiB", "1.5g", "800m", "512": an amount of memory in MiB, which is also the unit of a bare
// number. Parts of a MiB are rounded up. Units are read without regard to case.
base::Result<std::int64_t> parse_memory_mib(std::string_view text);

// "10 min", "2h", "1.5 s", "500 ms", "30": a time; a bare number is in seconds.
base::Result<std::chrono::milliseconds> parse_duration(
    std::string_view text, std::chrono::milliseconds most = kMaxDuration);

// A whole number from `min` to `max`.
base::Result<int> parse_count(std::string_view text, int min, int max);

// In the largest unit that needs no fraction, so that it reads back as the same value.
std::string memory_text(std::int64_t mib);
std::string duration_text(std::chrono::milliseconds duration);

// `text` in quotes as an error shows it: shortened, control characters replaced.
std::string in_quotes(std::string_view text);

// A name of the user's as a part of a variable's name: in capitals, '-' as '_'. "data-server" is
// DATA_SERVER.
std::string in_variable(std::string_view name);

}  // namespace gangrun::job
