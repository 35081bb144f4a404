#pragma once

#include <memory>

#include "cli/place.h"

namespace gangrun::cli {

// This machine.
std::unique_ptr<Place> local_place();

}  // namespace gangrun::cli
