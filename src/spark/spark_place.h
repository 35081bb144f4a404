#pragma once

#include "client/place.h"
#include "jobfile/place_rules.h"

namespace gangrun::spark {

// The parts of a job that are possible where Spark decides about its executors.
jobfile::PlaceRules spark_rules();

// The executors of a Spark application, whose tasks connect by themselves.
client::Place spark_place();

}  // namespace gangrun::spark
