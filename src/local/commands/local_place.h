#pragma once

#include <memory>

#include "client/place.h"

namespace gangrun::local::commands {

// This machine.
std::unique_ptr<client::Place> local_place();

}  // namespace gangrun::local::commands
