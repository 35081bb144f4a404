#include "base/clock.h"

#include <array>
#include <cstddef>
#include <ctime>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"

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

Result<WallTime> parse_iso8601(std::string_view text) {
  constexpr std::string_view kForm = "####-##-##T##:##:##.###Z";
  constexpr std::size_t kMaxShownBytes = 80;
  constexpr int kFirstYear = 1970;
  constexpr int kLastYear = 2261;  // the last whole one that a WallTime can hold
  std::array<int, 7> numbers{};
  std::size_t part = 0;
  bool matches = text.size() == kForm.size();
  for (std::size_t i = 0; matches && i < text.size(); ++i) {
    const bool digit = is_digit(text[i]);
    matches = kForm[i] == '#' ? digit : text[i] == kForm[i];
    if (!matches) break;
    if (digit) {
      numbers.at(part) = numbers.at(part) * 10 + (text[i] - '0');
    } else if (i + 1 < text.size()) {
      ++part;
    }
  }
  const Error wrong = invalid_argument(
      format("\"{}\" is not a time like 2026-01-31T12:00:00.123Z", shorten(text, kMaxShownBytes)));
  if (!matches || numbers[0] < kFirstYear || numbers[0] > kLastYear) return wrong;
  std::tm parts{};
  parts.tm_year = numbers[0] - 1900;
  parts.tm_mon = numbers[1] - 1;
  parts.tm_mday = numbers[2];
  parts.tm_hour = numbers[3];
  parts.tm_min = numbers[4];
  parts.tm_sec = numbers[5];
  const std::time_t whole = timegm(&parts);
  const WallTime time{seconds(whole) + milliseconds(numbers[6])};
  // A 31 June would become a 1 July.
  if (to_iso8601(time) != text) return wrong;
  return time;
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
