#include "cluster/check.h"

#include <algorithm>

namespace gangrun::cluster {

bool any_failed(const std::vector<Check>& checks) {
  return std::any_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.verdict == Verdict::kFailed; });
}

}  // namespace gangrun::cluster
