#pragma once

#include <string_view>

#include "job/place.h"

namespace gangrun::cluster {

// The place whose tasks come by themselves, from the executors of a Spark application.
inline constexpr std::string_view kSpark = "spark";

// What of a job can be where Spark decides what its executors have.
job::Place spark_place();

}  // namespace gangrun::cluster
