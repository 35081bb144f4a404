#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "job/spec.h"
#include "jobfile/place_rules.h"
#include "jobfile/problem.h"

namespace gangrun::jobfile {

// The first thing that is wrong with a complete spec, whoever made it: counts, names, policies,
// commands, limits. Whether files exist and the place has such resources is not known here.
std::optional<Problem> find_problem(const job::JobSpec& spec);
// The same, and what its place does not take.
std::optional<Problem> find_problem(const job::JobSpec& spec, const RulesOfPlaces& places);

// The same as an error "path: text".
base::Result<> validate(const job::JobSpec& spec, const RulesOfPlaces& places);

// Letters, digits and '_', no digit first, and not one of those that gangrun itself sets.
base::Result<> check_variable_name(std::string_view name);

}  // namespace gangrun::jobfile
