#include "yarn/where_containers_work.h"

#include "base/format.h"
#include "jobfile/place_rules.h"

namespace gangrun::yarn {

std::string where_containers_work(const job::JobSpec& spec, const std::string& outputs) {
  const bool has_outputs = jobfile::find_asked(spec, jobfile::Feature::kOutputs).has_value();
  return base::format(
      "tasks work in the folders of their containers, which YARN removes at the end: {}",
      has_outputs ? base::format("what `outputs` names goes to {}, for `gangrun fetch`", outputs)
                  : "write what is to stay to a file system that all see, or name it in `outputs`");
}

}  // namespace gangrun::yarn
