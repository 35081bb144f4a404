#pragma once

#include <string>

namespace gangrun::base {

// A variable of this process's environment, which nobody changes once there are threads; empty
// where it is not set.
std::string variable(const char* name);

}  // namespace gangrun::base
