#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

// The resources that only a cluster has (Resources::others). A name is what the cluster calls it:
// letters, digits, '.', '_' and '-', a letter first, with a host's name and '/' in front or not.
namespace gangrun::jobfile {

// Whether a cluster can have such a resource, and it has no key of its own here.
base::Result<> check_resource_name(std::string_view name);

// A whole number, at most kMaxResourceAmount.
base::Result<std::int64_t> parse_resource_amount(std::string_view text);

}  // namespace gangrun::jobfile
