#pragma once

#include <memory>

#include "cli/place.h"

namespace gangrun::cli {

// The YARN cluster of HADOOP_CONF_DIR.
std::unique_ptr<Place> yarn_place();

}  // namespace gangrun::cli
