#pragma once

#include <memory>

#include "client/place.h"

namespace gangrun::spark {

// The executors of a Spark application, whose tasks connect by themselves.
client::Place spark_place();

}  // namespace gangrun::spark
