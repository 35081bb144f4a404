#pragma once

#include <memory>

#include "client/place.h"

namespace gangrun::ssh::commands {

std::unique_ptr<client::Place> ssh_place();

}  // namespace gangrun::ssh::commands
