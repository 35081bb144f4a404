#pragma once

#include <memory>

#include "client/place.h"

namespace gangrun::local::commands {

// This machine.
client::Place local_place();

}  // namespace gangrun::local::commands
