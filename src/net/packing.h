#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gangrun::net {

// A long text made short for a text message: compressed (zlib's format, RFC 1950) and written in
// base64 (RFC 4648). Blocks for some milliseconds per MiB.
std::string pack(std::string_view text);

// The text again. kResourceExhausted where it has more than `max_bytes`, however short it is
// packed; kInvalidArgument where it was not packed so.
base::Result<std::string> unpack(std::string_view packed, std::size_t max_bytes);

}  // namespace gangrun::net
