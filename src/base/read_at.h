#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gangrun::base {

// `length` bytes of a file from `offset`, fewer only where it ends. `what` begins the words of an
// error: "cannot read PATH".
Result<std::string> read_at(int fd, std::int64_t offset, std::size_t length, std::string_view what);

}  // namespace gangrun::base
