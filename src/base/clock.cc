#include "base/clock.h"

#include <ctime>

#include "base/format.h"

namespace gangrun::base {

std::string to_iso8601(WallTime time) {
  const auto since_epoch = std::chrono::duration_cast<milliseconds>(time.time_since_epoch());
  const auto whole = static_cast<std::time_t>(since_epoch.count() / 1000);
  std::tm parts{};
  gmtime_r(&whole, &parts);
  return format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                since_epoch.count() % 1000);
}

std::string to_words(Duration duration) {
  const auto ms = std::chrono::duration_cast<milliseconds>(duration).count();
  if (ms < 1000) return format("{} ms", ms);
  if (ms < 10'000) return format("{}.{} s", ms / 1000, ms % 1000 / 100);
  const auto s = ms / 1000;
  if (s < 60) return format("{} s", s);
  if (s < 3600)
    return s % 60 == 0 ? format("{} min", s / 60) : format("{} min {} s", s / 60, s % 60);
  const auto min = s / 60;
  return min % 60 == 0 ? format("{} h", min / 60) : format("{} h {} min", min / 60, min % 60);
}

}  // namespace gangrun::base
