#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Hadoop's own variable-length integer (WritableUtils), which is not protobuf's: one byte from -112
// to 127; else a first byte that tells sign and length, and up to 8 bytes, the highest first.
namespace gangrun::hadoop {

void append_variable_integer(std::string& out, std::int64_t value);

// Takes one from the front of `bytes`; none where they end before it does.
std::optional<std::int64_t> take_variable_integer(std::string_view& bytes);

}  // namespace gangrun::hadoop
