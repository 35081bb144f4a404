#include "cli/moment.h"

#include <string>

namespace gangrun::cli {

std::optional<base::WallTime> moment_from(std::string_view text) {
  constexpr std::string_view kWhole = "0000-00-00T00:00:00.000Z";
  constexpr std::size_t kDay = sizeof("2026-01-31") - 1;
  constexpr std::size_t kMinute = sizeof("2026-01-31T12:00") - 1;
  constexpr std::size_t kSecond = sizeof("2026-01-31T12:00:00") - 1;
  constexpr std::size_t kMillisecond = kWhole.size() - 1;
  if (text.size() > kDay && text.ends_with('Z')) text.remove_suffix(1);
  const std::size_t size = text.size();
  if (size != kDay && size != kMinute && size != kSecond && size != kMillisecond) {
    return std::nullopt;
  }
  const auto time = base::parse_iso8601(std::string(text) + std::string(kWhole.substr(size)));
  return time.ok() ? std::optional(*time) : std::nullopt;
}

}  // namespace gangrun::cli
