#include "cluster/check.h"

#include <algorithm>

namespace gangrun::cluster {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk: return "ok";
    case Verdict::kWarning: return "warning";
    case Verdict::kFailed: return "failed";
    case Verdict::kNotChecked: return "not checked";
  }
  return "failed";
}

bool any_failed(const std::vector<Check>& checks) {
  return std::any_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.verdict == Verdict::kFailed; });
}

}  // namespace gangrun::cluster
