#pragma once

#include <array>
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

std::string_view to_string(Verdict verdict);

}  // namespace gangrun::cluster

namespace gangrun::job {

template <>
struct ChoiceOf<cluster::Verdict> {
  static constexpr std::string_view kWhat = "a verdict";
  static constexpr std::array kValues = {cluster::Verdict::kOk, cluster::Verdict::kWarning,
                                         cluster::Verdict::kFailed, cluster::Verdict::kNotChecked};
};

}  // namespace gangrun::job

namespace gangrun::cluster {

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
