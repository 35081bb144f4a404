#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "job/place.h"
#include "job/problem.h"
#include "job/spec.h"

namespace gangrun::job {

// The first thing that is wrong with a complete spec, whoever made it: counts, names, policies,
// commands, limits. Whether files exist and the place has such resources is not known here.
std::optional<Problem> find_problem(const JobSpec& spec);
// The same, and what its place does not take.
std::optional<Problem> find_problem(const JobSpec& spec, const Places& places);

// The same as an error "path: text".
base::Result<> validate(const JobSpec& spec, const Places& places);

// Letters, digits and '_', no digit first, and not one of those that gangrun itself sets.
base::Result<> check_variable_name(std::string_view name);

}  // namespace gangrun::job
