#pragma once

#include <memory>

#include "client/place.h"

namespace gangrun::client {

std::unique_ptr<Place> ssh_place();

}  // namespace gangrun::client
