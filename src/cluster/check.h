#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/described.h"
#include "job/choice.h"
#include "job/json_text.h"

namespace gangrun::cluster {

enum class Verdict {
  kOk,
  kWarning,     // jobs run, but not all that could be
  kFailed,      // no job can run
  kNotChecked,  // it could not, or need not, be looked at
};
constexpr auto choice_of(Verdict) {
  using enum Verdict;
  return job::choice<Verdict>(
      "a verdict",
      {{kOk, "ok"}, {kWarning, "warning"}, {kFailed, "failed"}, {kNotChecked, "not checked"}});
}
inline std::string_view to_string(Verdict verdict) { return job::to_string(verdict); }

// One thing that jobs need of a place, and how it is.
struct Check {
  std::string name;
  Verdict verdict = Verdict::kOk;
  std::string found;    // one sentence
  std::string to_do{};  // by the user; empty: nothing

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("name", &Check::name), base::row("verdict", &Check::verdict),
                      base::row("found", &Check::found, job::Told{base::kAnyNumber}),
                      base::row("to_do", &Check::to_do, job::Told{base::kAnyNumber}));
  }

  friend bool operator==(const Check&, const Check&) = default;
};

[[nodiscard]] bool any_failed(const std::vector<Check>& checks);

}  // namespace gangrun::cluster
