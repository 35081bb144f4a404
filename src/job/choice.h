#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gangrun::job {

// The one of `allowed` that is `text` in any case, or is what other programs of this kind call so:
// "vcores" for "cpus".
std::optional<std::string> same_name(std::string_view text,
                                     const std::vector<std::string>& allowed);

// "'trackd' is not a policy; did you mean 'tracked'? allowed: tracked, service, …"
base::Error not_one_of(std::string_view text, std::string_view what,
                       const std::vector<std::string>& allowed);

// How an enum is written by name.
template <typename T, std::size_t kCount>
struct Choice {
  std::string_view what;  // its values, in errors: "a policy"
  // The names of all values, in the order in which errors and documents list them.
  std::array<std::pair<T, std::string_view>, kCount> names;
  std::string_view prefix;  // a name may have it too, "SIGUSR1"; empty: there is none
};
template <typename T, std::size_t kCount>
constexpr Choice<T, kCount> choice(std::string_view what,
                                   const std::pair<T, std::string_view> (&names)[kCount],
                                   std::string_view prefix = {}) {
  return {what, std::to_array(names), prefix};
}

// An enum that is written by name has a choice_of() beside it, which makes its Choice.
template <typename T>
concept IsChoice = requires {
  choice_of(T{});
};
template <IsChoice T>
inline constexpr auto kChoice = choice_of(T{});

template <IsChoice T>
std::string_view to_string(T value) {
  for (const auto& [each, name] : kChoice<T>.names) {
    if (each == value) return name;
  }
  return {};
}

template <IsChoice T>
std::vector<std::string> choice_names() {
  std::vector<std::string> names;
  for (const auto& [value, name] : kChoice<T>.names) names.emplace_back(name);
  return names;
}

// The inverse of to_string(). The error gives the text, what is allowed, and a near name.
template <IsChoice T>
base::Result<T> choice_from(std::string_view text) {
  for (const auto& [value, name] : kChoice<T>.names) {
    // The name for none has no prefix.
    const bool is_long = name != "none" && text == std::string(kChoice<T>.prefix).append(name);
    if (text == name || is_long) return value;
  }
  return not_one_of(text, kChoice<T>.what, choice_names<T>());
}

}  // namespace gangrun::job
