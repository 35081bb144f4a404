#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace gangrun::kubernetes {

// The error of a forwarded port, without the names that a container runtime gives its own things,
// which nobody knows.
base::Error forward_error(const base::Error& error, const std::string& pod, std::uint16_t port);

}  // namespace gangrun::kubernetes
