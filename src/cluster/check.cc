#include "cluster/check.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "job/json_text.h"

namespace gangrun::cluster {

namespace {

constexpr std::array<Verdict, 4> kVerdicts{Verdict::kOk, Verdict::kWarning, Verdict::kFailed,
                                           Verdict::kNotChecked};

}  // namespace

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

base::Json to_json(const Check& check) {
  return {{"name", check.name},
          {"verdict", to_string(check.verdict)},
          {"found", job::json_text(check.found)},
          {"to_do", job::json_text(check.to_do)}};
}

base::Result<Check> check_from_json(const base::Json& json) {
  Check check;
  GANGRUN_ASSIGN(check.name, base::json_member<std::string>(json, "name"));
  GANGRUN_ASSIGN(const std::string verdict, base::json_member<std::string>(json, "verdict"));
  const auto* const known = std::find_if(kVerdicts.begin(), kVerdicts.end(),
                                         [&](Verdict one) { return to_string(one) == verdict; });
  if (known == kVerdicts.end()) {
    return base::invalid_argument(base::format("\"verdict\": {} is none", verdict));
  }
  check.verdict = *known;
  GANGRUN_ASSIGN(check.found, base::json_member<std::string>(json, "found"));
  GANGRUN_ASSIGN(check.to_do, base::json_member<std::string>(json, "to_do"));
  return check;
}

}  // namespace gangrun::cluster
