#pragma once

#include "base/json.h"
#include "jobfile/yaml_tree.h"

namespace gangrun::jobfile {

// The value of a part of a job file that goes to others as it is: maps and lists as they are,
// scalars that are not quoted by yaml_scalar().
base::Json json_value(const YamlNode& node);

}  // namespace gangrun::jobfile
