#pragma once

#include <map>
#include <string>

#include "job/spec.h"

namespace gangrun::jobfile {

// The values that a job file and flags give. Others have their default, or what build() makes of
// the rest.
struct JobDraft {
  job::JobSpec spec;
  // The source of each given field, by its path: "tasks.worker.memory" → "job.yaml:4:12: " or
  // "-m: ". What errors that are found later begin with.
  std::map<std::string, std::string> origins{};
  // The same of what files of defaults give, whatever wins over it.
  std::map<std::string, std::string> defaults{};

  [[nodiscard]] bool is_given(const std::string& path) const { return origins.contains(path); }
  [[nodiscard]] bool is_default(const std::string& path) const;
  [[nodiscard]] job::TaskSpec* find(const std::string& type);
};

}  // namespace gangrun::jobfile
