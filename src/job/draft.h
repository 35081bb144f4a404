#pragma once

#include <map>
#include <string>

#include "job/spec.h"

namespace gangrun::job {

// What a job file and flags give. What neither gives has its default, or what build() makes of the
// rest.
struct JobDraft {
  JobSpec spec;
  // Where each given field comes from, by its path: "tasks.worker.memory" → "job.yaml:4:12: " or
  // "-m: ". What errors that are found later begin with.
  std::map<std::string, std::string> origins{};

  [[nodiscard]] bool is_given(const std::string& path) const { return origins.contains(path); }
  [[nodiscard]] TaskSpec* find(const std::string& type);
};

}  // namespace gangrun::job
