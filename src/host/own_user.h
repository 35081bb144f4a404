#pragma once

#include <string>

namespace gangrun::host {

// The name of the user of this process; empty where nobody knows it.
std::string own_user_name();

}  // namespace gangrun::host
