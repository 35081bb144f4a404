#pragma once

#include <optional>
#include <string>
#include <string_view>
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

// An enum that is written by name. It has a to_string(), and beside it stands what this is for it:
//   kWhat: what the values are, in errors: "a policy".
//   kValues: all of them, in the order in which errors and documents list them.
//   kPrefix, where there is one: a name may also be written with it, "SIGUSR1".
template <typename T>
struct ChoiceOf;

template <typename T>
std::vector<std::string> choice_names() {
  std::vector<std::string> names;
  names.reserve(ChoiceOf<T>::kValues.size());
  for (const T value : ChoiceOf<T>::kValues) names.emplace_back(to_string(value));
  return names;
}

// The inverse of to_string(). The error gives the text, what is allowed, and a near name.
template <typename T>
base::Result<T> choice_from(std::string_view text) {
  for (const T value : ChoiceOf<T>::kValues) {
    if (to_string(value) == text) return value;
  }
  return not_one_of(text, ChoiceOf<T>::kWhat, choice_names<T>());
}

}  // namespace gangrun::job
