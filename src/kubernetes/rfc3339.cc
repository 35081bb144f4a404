#include "kubernetes/rfc3339.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

#include "base/letters.h"

namespace gangrun::kubernetes {

namespace {

constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd";
constexpr std::size_t kNanosecondDigits = 9;
constexpr int kFirstYear = 1970;
constexpr int kLastYear = 2260;  // a WallTime holds no more

// Each 'd' of the form is a digit.
bool begins_as(std::string_view text, std::string_view form) {
  const auto fits = [](char c, char wanted) {
    return wanted == 'd' ? base::is_digit(c) : c == wanted;
  };
  return std::ranges::equal(text.substr(0, form.size()), form, fits);
}

// The number of digits that are there.
int number_at(std::string_view text, std::size_t at, std::size_t digits) {
  int value = 0;
  for (const char c : text.substr(at, digits)) value = value * 10 + (c - '0');
  return value;
}

// Takes a point and digits from the beginning of `rest`.
std::optional<std::chrono::nanoseconds> take_fraction(std::string_view& rest) {
  if (!rest.starts_with('.')) return std::chrono::nanoseconds(0);
  const std::size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
  if (end == 1) return std::nullopt;
  std::string digits(rest.substr(1, end - 1));
  digits.resize(kNanosecondDigits, '0');
  rest.remove_prefix(end);
  return std::chrono::nanoseconds(number_at(digits, 0, kNanosecondDigits));
}

std::optional<std::chrono::minutes> read_offset(std::string_view text) {
  if (text == "Z") return std::chrono::minutes(0);
  constexpr std::string_view kOffset = "+dd:dd";
  if (text.size() != kOffset.size()) return std::nullopt;
  if (!begins_as(text, kOffset) && !begins_as(text, "-dd:dd")) return std::nullopt;
  const int hours = number_at(text, 1, 2);
  const int minutes = number_at(text, 4, 2);
  if (hours > 23 || minutes > 59) return std::nullopt;
  return std::chrono::minutes((text.front() == '-' ? -1 : 1) * (hours * 60 + minutes));
}

}  // namespace

bool begins_as_rfc3339(std::string_view text) { return begins_as(text, kForm); }

std::optional<base::WallTime> parse_rfc3339(std::string_view text) {
  if (!begins_as_rfc3339(text)) return std::nullopt;
  std::string_view rest = text.substr(kForm.size());
  const auto fraction = take_fraction(rest);
  const auto offset = read_offset(rest);
  const int year = number_at(text, 0, 4);
  const auto two_digits = [text](std::size_t at) { return number_at(text, at, 2); };
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(two_digits(5))),
                                         std::chrono::day(static_cast<unsigned>(two_digits(8)))};
  const int hour = two_digits(11);
  const int minute = two_digits(14);
  const int second = two_digits(17);
  if (!fraction || !offset || !date.ok() || year < kFirstYear || year > kLastYear || hour > 23 ||
      minute > 59 || second > 59) {
    return std::nullopt;
  }
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second) + *fraction - *offset;
}

}  // namespace gangrun::kubernetes
