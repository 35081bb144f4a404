#include "job/draft.h"

#include <algorithm>

namespace gangrun::job {

TaskDraft* JobDraft::find(const std::string& type) {
  const auto found =
      std::find_if(tasks.begin(), tasks.end(), [&](const TaskDraft& t) { return t.type == type; });
  return found == tasks.end() ? nullptr : &*found;
}

}  // namespace gangrun::job
