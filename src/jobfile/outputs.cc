#include "jobfile/outputs.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/strings.h"
#include "job/limits.h"
#include "job/units.h"

namespace gangrun::jobfile {

Found check_outputs(const std::vector<std::string>& outputs, const std::string& path) {
  if (outputs.size() > job::kMaxOutputs) {
    return Problem{path, base::format("{} outputs are more than the limit of {}", outputs.size(),
                                      job::kMaxOutputs)};
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string own_path = base::format("{}.{}", path, i);
    if (auto found = check_text(outputs[i], own_path)) return found;
    std::string plain = outputs[i];
    if (plain.ends_with('/')) plain.pop_back();
    const std::vector<std::string> parts = base::split(plain, '/');
    const bool fits = plain.find('\n') == std::string::npos &&
                      std::none_of(parts.begin(), parts.end(), [](const std::string& part) {
                        return part.empty() || part == "." || part == "..";
                      });
    if (!fits) {
      return Problem{own_path, base::format("{} is not the path of an output; allowed: a relative "
                                            "path of a file or folder, without '.' and '..'",
                                            job::in_quotes(outputs[i]))};
    }
    if (!seen.insert(plain).second) {
      return Problem{own_path, base::format("{} is given twice", job::in_quotes(outputs[i]))};
    }
  }
  return std::nullopt;
}

}  // namespace gangrun::jobfile
