#include "kubernetes/rfc3339.h"

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/letters.h"

namespace gangrun::kubernetes {

namespace {

constexpr int kFirstYear = 1970;
constexpr int kLastYear = 2260;  // a WallTime holds no more

// A cursor over digits and separators; once something does not fit, nothing does any more.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  int digits(std::size_t count) {
    if (rest_.size() < count) fits_ = false;
    int value = 0;
    for (std::size_t i = 0; fits_ && i < count; ++i) {
      const char c = rest_[i];
      fits_ = base::is_digit(c);
      value = value * 10 + (c - '0');
    }
    if (fits_) rest_.remove_prefix(count);
    return value;
  }
  bool take(char c) {
    if (!fits_ || rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) { fits_ = take(c); }
  // The digits after a point, as nanoseconds.
  std::int64_t fraction() {
    std::int64_t value = 0;
    std::int64_t unit = 1'000'000'000;
    fits_ = !rest_.empty() && base::is_digit(rest_.front());
    while (fits_ && !rest_.empty() && base::is_digit(rest_.front())) {
      unit /= 10;
      value += unit * (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return value;
  }
  void refuse() { fits_ = false; }
  [[nodiscard]] bool at_end() const { return fits_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool fits_ = true;
};

std::chrono::minutes offset_of(Cursor& cursor) {
  if (cursor.take('Z')) return std::chrono::minutes(0);
  const int sign = cursor.take('-') ? -1 : 1;
  if (sign == 1) cursor.expect('+');
  const int hours = cursor.digits(2);
  cursor.expect(':');
  const int minutes = cursor.digits(2);
  if (hours > 23 || minutes > 59) cursor.refuse();
  return std::chrono::minutes(sign * (hours * 60 + minutes));
}

}  // namespace

std::optional<base::WallTime> parse_rfc3339(std::string_view text) {
  Cursor cursor(text);
  const int year = cursor.digits(4);
  cursor.expect('-');
  const int month = cursor.digits(2);
  cursor.expect('-');
  const int day = cursor.digits(2);
  cursor.expect('T');
  const int hour = cursor.digits(2);
  cursor.expect(':');
  const int minute = cursor.digits(2);
  cursor.expect(':');
  const int second = cursor.digits(2);
  const std::int64_t nanoseconds = cursor.take('.') ? cursor.fraction() : 0;
  const std::chrono::minutes offset = offset_of(cursor);
  if (!cursor.at_end()) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || year < kFirstYear || year > kLastYear || hour > 23 || minute > 59 ||
      second > 59) {
    return std::nullopt;
  }
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second) + std::chrono::nanoseconds(nanoseconds) - offset;
}

}  // namespace gangrun::kubernetes
