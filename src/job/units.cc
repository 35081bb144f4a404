#include "job/units.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"

namespace gangrun::job {

namespace {

constexpr std::size_t kMaxQuotedBytes = 60;
constexpr std::size_t kMaxFractionDigits = 6;
// Larger numbers are over every limit; so are their products with a factor, without an overflow.
constexpr std::int64_t kMaxWhole = 10'000'000'000;
constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kMsInDay = 86'400'000;
constexpr std::int64_t kMibInTib = std::int64_t{1} << 20U;

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

// The names that a slip of the finger is compared with come first.
constexpr Unit kMemoryUnits[] = {
    {"MiB", 1},       {"GiB", 1024}, {"TiB", kMibInTib}, {"m", 1},          {"g", 1024},
    {"t", kMibInTib}, {"Mi", 1},     {"Gi", 1024},       {"Ti", kMibInTib},
};
constexpr Unit kTimeUnits[] = {
    {"ms", 1},       {"s", 1000},   {"min", 60'000}, {"h", 3'600'000},
    {"d", kMsInDay}, {"m", 60'000}, {"sec", 1000},
};

struct UnitKind {
  std::string_view what;     // "an amount of memory"
  std::string_view allowed;  // a sentence's end
  std::span<const Unit> units;
  std::int64_t bare_factor;
  std::int64_t max;
};

base::Error wrong(std::string_view text, const UnitKind& kind, std::string_view why = "") {
  return base::invalid_argument(
      base::format("{} is not {}{}; allowed: {}", in_quotes(text), kind.what, why, kind.allowed));
}

base::Error unknown_unit(std::string_view text, std::string_view unit, const UnitKind& kind) {
  std::vector<std::string> names;
  for (const Unit& known : kind.units) names.push_back(base::in_small_letters(known.name));
  std::string hint;
  const std::string small = base::in_small_letters(unit);
  const std::string singular = small.ends_with('s') ? small.substr(0, small.size() - 1) : small;
  const bool is_plural = std::ranges::find(names, singular) != names.end();
  if (const auto meant = is_plural ? singular : base::nearest(small, names)) {
    const auto index = std::find(names.begin(), names.end(), *meant) - names.begin();
    hint = base::format("; did you mean '{}'?", kind.units[static_cast<std::size_t>(index)].name);
  }
  return wrong(text, kind, base::format(" (unknown unit {}{})", in_quotes(unit), hint));
}

std::size_t count_digits(std::string_view text) {
  const auto end =
      std::find_if(text.begin(), text.end(), [](char c) { return !base::is_digit(c); });
  return static_cast<std::size_t>(end - text.begin());
}

base::Result<std::int64_t> parse_quantity(std::string_view text, const UnitKind& kind) {
  std::string_view rest = base::trim(text);
  if (rest.starts_with('-')) return wrong(text, kind, " (negative)");
  const std::string_view whole_digits = rest.substr(0, count_digits(rest));
  rest.remove_prefix(whole_digits.size());
  std::string_view fraction_digits;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction_digits = rest.substr(0, count_digits(rest));
    rest.remove_prefix(fraction_digits.size());
    if (fraction_digits.empty() || fraction_digits.size() > kMaxFractionDigits) {
      return wrong(text, kind);
    }
  }
  if (whole_digits.empty()) return wrong(text, kind);
  const std::int64_t whole =
      std::min(base::parse_integer(whole_digits).value_or(kMaxWhole), kMaxWhole);
  std::int64_t millionths = base::parse_integer(fraction_digits).value_or(0);
  for (std::size_t i = fraction_digits.size(); i < kMaxFractionDigits; ++i) millionths *= 10;

  const std::string_view unit = base::trim(rest);
  std::int64_t factor = kind.bare_factor;
  if (!unit.empty()) {
    const auto found = std::find_if(kind.units.begin(), kind.units.end(), [&](const Unit& known) {
      return base::same_without_case(known.name, unit);
    });
    if (found == kind.units.end()) return unknown_unit(text, unit, kind);
    factor = found->factor;
  }
  const std::int64_t value = whole * factor + (millionths * factor + kMillion - 1) / kMillion;
  if (value > kind.max) return wrong(text, kind, " (too large)");
  return value;
}

}  // namespace

base::Result<std::int64_t> parse_memory_mib(std::string_view text) {
  const UnitKind kind{
      "an amount of memory",
      "a number with MiB (or m), GiB (g) or TiB (t), at most 64 TiB, for example 2 GiB; "
      "a bare number is in MiB",
      kMemoryUnits, 1, kMaxMemoryMib};
  return parse_quantity(text, kind);
}

base::Result<std::chrono::milliseconds> parse_duration(std::string_view text,
                                                       std::chrono::milliseconds most) {
  const bool is_in_days = most.count() % kMsInDay == 0;
  const std::string allowed = base::format(
      "a number with ms, s, min (or m), h or d, at most {}, for example 10 min; a bare number is "
      "in seconds",
      is_in_days ? base::format("{} d", most.count() / kMsInDay) : duration_text(most));
  const UnitKind kind{"a time", allowed, kTimeUnits, 1000, most.count()};
  GANGRUN_ASSIGN(const std::int64_t ms, parse_quantity(text, kind));
  return std::chrono::milliseconds(ms);
}

base::Result<int> parse_count(std::string_view text, int min, int max) {
  const auto value = base::parse_integer(base::trim(text));
  if (!value || *value < min || *value > max) {
    return base::invalid_argument(base::format(
        "{} is not allowed; allowed: a whole number from {} to {}", in_quotes(text), min, max));
  }
  return static_cast<int>(*value);
}

std::string memory_text(std::int64_t mib) {
  if (mib == 0 || mib % 1024 != 0) return base::format("{} MiB", mib);
  if (mib % kMibInTib != 0) return base::format("{} GiB", mib / 1024);
  return base::format("{} TiB", mib / kMibInTib);
}

std::string duration_text(std::chrono::milliseconds duration) {
  const auto ms = duration.count();
  if (ms == 0) return "0 s";
  if (ms % 3'600'000 == 0) return base::format("{} h", ms / 3'600'000);
  if (ms % 60'000 == 0) return base::format("{} min", ms / 60'000);
  if (ms % 1000 == 0) return base::format("{} s", ms / 1000);
  return base::format("{} ms", ms);
}

std::string in_quotes(std::string_view text) {
  std::string shown = base::shorten(text, kMaxQuotedBytes);
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return base::format("'{}'", shown);
}

std::string in_variable(std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c == '-' ? '_' : base::capital_letter(c); });
  return upper;
}

}  // namespace gangrun::job
