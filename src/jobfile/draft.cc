#include "jobfile/draft.h"

#include <algorithm>

namespace gangrun::jobfile {

job::TaskSpec* JobDraft::find(const std::string& type) {
  const auto found = std::find_if(spec.tasks.begin(), spec.tasks.end(),
                                  [&](const job::TaskSpec& t) { return t.type == type; });
  return found == spec.tasks.end() ? nullptr : &*found;
}

}  // namespace gangrun::jobfile
