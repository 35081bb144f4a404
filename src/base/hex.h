#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gangrun::base {

// Any bytes as two lower-case hexadecimal digits each, where a text is needed.
std::string to_hex(std::string_view bytes);
// The way back; none where `text` is not what to_hex() writes.
std::optional<std::string> from_hex(std::string_view text);

}  // namespace gangrun::base
