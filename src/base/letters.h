#pragma once

#include <algorithm>
#include <string>
#include <string_view>

// Large and small letters where a protocol knows only those of ASCII, whatever the locale.
namespace gangrun::base {

constexpr char small_letter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
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
