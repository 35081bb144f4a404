#pragma once

#include <memory>

#include "cli/place.h"

namespace gangrun::cli {

// The executors of a Spark application, from which tasks come by themselves.
std::unique_ptr<Place> spark_place();

}  // namespace gangrun::cli
