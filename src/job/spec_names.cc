#include "job/spec_names.h"

#include <algorithm>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/units.h"

namespace gangrun::job {

std::vector<std::string> framework_names() {
  std::vector<std::string> names = choice_names<Framework>();
  names.emplace_back("none");
  return names;
}

base::Result<Framework> framework_from(std::string_view text) {
  // Their own pages write PyTorch and TensorFlow.
  const std::string name = base::in_small_letters(text);
  for (const auto& [framework, its_name] : kChoice<Framework>.names) {
    if (its_name == name) return framework;
  }
  return not_one_of(text, kChoice<Framework>.what, framework_names());
}

base::Result<std::vector<Framework>> frameworks_from(const std::vector<std::string>& names) {
  std::vector<Framework> frameworks;
  if (names.empty()) {
    return base::invalid_argument(
        base::format("no framework is named; allowed: {}", base::join(framework_names(), ", ")));
  }
  if (names.size() == 1 && names.front() == "none") return frameworks;
  for (const std::string& name : names) {
    if (name == "none") return base::invalid_argument("'none' stands alone or not at all");
    GANGRUN_ASSIGN(const Framework framework, framework_from(name));
    if (std::find(frameworks.begin(), frameworks.end(), framework) != frameworks.end()) {
      return base::invalid_argument(base::format("{} is named twice", in_quotes(name)));
    }
    frameworks.push_back(framework);
  }
  return frameworks;
}

}  // namespace gangrun::job
