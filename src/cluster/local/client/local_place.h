#pragma once

#include <memory>

#include "client/place.h"

namespace gangrun::client {

// This machine.
std::unique_ptr<Place> local_place();

}  // namespace gangrun::client
