#include "jobfile/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "base/letters.h"

namespace gangrun::jobfile {

namespace {

using base::Json;

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, text) != words.end();
}

// In small letters, with a capital, or in capitals: what YAML 1.1 takes its words in.
bool has_a_words_letters(std::string_view text) {
  const std::string small = base::in_small_letters(text);
  const auto differs = [](char a, char b) { return a != b; };
  const bool begins_small = text.front() == small.front();
  const std::string_view rest = text.substr(1);
  const std::string_view small_rest = std::string_view(small).substr(1);
  if (rest == small_rest) return true;
  return !begins_small && std::ranges::equal(rest, small_rest, differs);
}

// Null where it is none, or too large.
Json whole_number(std::string_view digits, bool is_negative) {
  int base = 10;
  if (digits.size() > 1 && digits.front() == '0') {
    const char kind = base::small_letter(digits[1]);
    base = kind == 'x' ? 16 : kind == 'b' ? 2 : 8;
    digits.remove_prefix(kind == 'x' || kind == 'b' || kind == 'o' ? 2 : 1);
  }
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || error != std::errc{} || stop != end) return nullptr;
  if (!is_negative) return value;
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value > kLargest + 1) return nullptr;
  return static_cast<std::int64_t>(0 - value);
}

// Digits with a point at any place, and an exponent; null where it is something else.
Json broken_number(std::string_view digits, bool is_negative) {
  if (digits.starts_with('-') ||
      digits.find_first_not_of("0123456789.eE+-") != std::string_view::npos) {
    return nullptr;
  }
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return nullptr;
  return is_negative ? -value : value;
}

Json number(std::string_view text) {
  if (!base::is_digit(text.front()) && text.find_first_of("+-.") != 0) {
    return nullptr;
  }
  std::string digits(text);
  if (digits.size() > 1 && digits[0] == '.' && digits[1] == '_') return nullptr;
  std::erase(digits, '_');
  const bool is_negative = digits.front() == '-';
  if (is_negative || digits.front() == '+') digits.erase(0, 1);
  if (Json whole = whole_number(digits, is_negative); !whole.is_null()) return whole;
  return broken_number(digits, is_negative);
}

}  // namespace

Json yaml_scalar(std::string_view text) {
  static constexpr std::array<std::string_view, 4> kYes{"y", "yes", "true", "on"};
  static constexpr std::array<std::string_view, 4> kNo{"n", "no", "false", "off"};
  if (text.empty() || text == "~") return nullptr;
  constexpr std::size_t kLongestWord = 5;
  if (text.size() <= kLongestWord && has_a_words_letters(text)) {
    const std::string small = base::in_small_letters(text);
    if (small == "null") return nullptr;
    if (is_one_of(small, kYes)) return true;
    if (is_one_of(small, kNo)) return false;
  }
  Json value = number(text);
  return value.is_null() ? Json(text) : value;
}

}  // namespace gangrun::jobfile
