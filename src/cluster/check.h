#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace gangrun::cluster {

enum class Verdict {
  kOk,
  kWarning,     // jobs run, but not all that could be
  kFailed,      // no job can run
  kNotChecked,  // it could not, or need not, be looked at
};

// One thing that jobs need of a place, and how it is.
struct Check {
  std::string name;
  Verdict verdict = Verdict::kOk;
  std::string found;    // one sentence
  std::string to_do{};  // by the user; empty: nothing

  friend bool operator==(const Check&, const Check&) = default;
};

std::string_view to_string(Verdict verdict);
[[nodiscard]] bool any_failed(const std::vector<Check>& checks);

base::Json to_json(const Check& check);
base::Result<Check> check_from_json(const base::Json& json);

}  // namespace gangrun::cluster
