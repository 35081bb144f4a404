#pragma once

#include <memory>

#include "client/place.h"

namespace gangrun::client {

// The YARN cluster of HADOOP_CONF_DIR.
std::unique_ptr<Place> yarn_place();

}  // namespace gangrun::client
