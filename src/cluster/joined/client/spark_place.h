#pragma once

#include <memory>

#include "client/place.h"

namespace gangrun::client {

// The executors of a Spark application, whose tasks connect by themselves.
std::unique_ptr<Place> spark_place();

}  // namespace gangrun::client
