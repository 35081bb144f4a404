#include "jobfile/draft.h"

#include <algorithm>

namespace gangrun::jobfile {

job::TaskSpec* JobDraft::find(const std::string& type) {
  const auto found = std::find_if(spec.tasks.begin(), spec.tasks.end(),
                                  [&](const job::TaskSpec& t) { return t.type == type; });
  return found == spec.tasks.end() ? nullptr : &*found;
}

bool JobDraft::is_default(const std::string& path) const {
  const auto given = origins.find(path);
  const auto by_default = defaults.find(path);
  return given != origins.end() && by_default != defaults.end() &&
         given->second == by_default->second;
}

}  // namespace gangrun::jobfile
