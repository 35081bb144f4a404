#pragma once

#include <string_view>

#include "base/result.h"

namespace gangrun::base {

// A text that a user has written, without the byte order mark with which editors of other systems
// begin one. kInvalidArgument where the mark is that of UTF-16.
Result<std::string_view> without_mark(std::string_view text);

}  // namespace gangrun::base
