#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gangrun::base {

// The parts of `text` between `separator`s; an empty text has one empty part.
std::vector<std::string> split(std::string_view text, char separator);

// Without white space at both ends.
std::string_view trim(std::string_view text);

// A whole decimal number with an optional minus sign and nothing else; none on overflow.
std::optional<std::int64_t> parse_integer(std::string_view text);

[[nodiscard]] bool is_valid_utf8(std::string_view text);

// The name in `allowed` that is nearest to `word` by edits, if near enough to be a slip of the
// finger: for "unknown key 'memmory'; did you mean 'memory'?".
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& allowed);

// `word` quoted so that a POSIX shell reads it as one word again; unquoted where that is enough.
std::string shell_quote(std::string_view word);

// At most `max_bytes` of `text`, cut between code points, with "…" where something was cut.
std::string shorten(std::string_view text, std::size_t max_bytes);

}  // namespace gangrun::base
