#pragma once

#include <string_view>

#include "base/json.h"

namespace gangrun::jobfile {

// The value for which kubectl takes a scalar of YAML that is not quoted: null, a truth value ("yes"
// and "off" too), a number ("0644" and "0o644" are octal, "1_000" is 1000) or else the text itself,
// also where it is a number that JSON cannot hold.
base::Json yaml_scalar(std::string_view text);

}  // namespace gangrun::jobfile
