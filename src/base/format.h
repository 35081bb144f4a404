#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gangrun::base {

using fmt::format;
using fmt::join;

}  // namespace gangrun::base
