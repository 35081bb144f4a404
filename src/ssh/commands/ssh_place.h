#pragma once

#include <memory>

#include "client/place.h"

namespace gangrun::ssh::commands {

client::Place ssh_place();

}  // namespace gangrun::ssh::commands
