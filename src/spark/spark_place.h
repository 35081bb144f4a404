#pragma once

#include <string_view>

#include "client/place.h"

namespace gangrun::spark {

// The value of `on` for executors.
inline constexpr std::string_view kSpark = "spark";

// The executors of a Spark application, whose tasks connect by themselves.
client::Place spark_place();

}  // namespace gangrun::spark
