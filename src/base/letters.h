#pragma once

#include <algorithm>
#include <string>
#include <string_view>

// Letters where a protocol or a name has only those of ASCII, whatever the locale.
namespace gangrun::base {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_small_letter(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_letter(char c) { return is_small_letter(c) || (c >= 'A' && c <= 'Z'); }
constexpr bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }
constexpr bool is_small_letter_or_digit(char c) { return is_small_letter(c) || is_digit(c); }
constexpr bool is_octal_digit(char c) { return c >= '0' && c <= '7'; }
// As to_hex() writes them.
constexpr bool is_small_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

constexpr char small_letter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr char capital_letter(char c) {
  return is_small_letter(c) ? static_cast<char>(c - 'a' + 'A') : c;
}

// Whether `text` has nothing but letters, digits and `others`.
constexpr bool is_of_letters_digits_and(std::string_view text, std::string_view others) {
  return std::ranges::all_of(
      text, [&](char c) { return is_letter_or_digit(c) || others.find(c) != others.npos; });
}

inline std::string in_small_letters(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), small_letter);
  return out;
}

inline bool same_without_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, small_letter, small_letter);
}

}  // namespace gangrun::base
