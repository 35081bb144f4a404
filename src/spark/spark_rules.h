#pragma once

#include <string_view>

#include "jobfile/place_rules.h"

namespace gangrun::spark {

// The place whose tasks connect by themselves, from the executors of a Spark application.
inline constexpr std::string_view kSpark = "spark";

inline constexpr std::string_view kWorksAtExecutor =
    "tasks work in the folder of their executor, which Spark removes: write what is to stay to a "
    "file system that all see";

// The parts of a job that are possible where Spark decides about its executors.
jobfile::PlaceRules spark_rules();

}  // namespace gangrun::spark
