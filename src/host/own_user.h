#pragma once

#include <string>

namespace gangrun::host {

// The name of the user as whom this process runs; empty where nobody knows it.
std::string own_user_name();

}  // namespace gangrun::host
