#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cli/context.h"
#include "cli/style.h"

namespace gangrun::cli {

// One thing of the local environment.
struct Finding {
  enum class Grade {
    kGood,
    kLimited,  // jobs run, but not all that could be
    kBad,      // no job can run
  };

  std::string name;
  Grade grade = Grade::kGood;
  std::string text;
};

std::string_view to_string(Finding::Grade grade);

// Looks at everything; some seconds at most. Leaves nothing behind.
std::vector<Finding> examine(const Context& context);

bool can_run_jobs(const std::vector<Finding>& findings);
Lines findings_lines(const std::vector<Finding>& findings, std::size_t width);
base::Json findings_json(const std::vector<Finding>& findings);

}  // namespace gangrun::cli
