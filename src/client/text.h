#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Text on its way to a terminal.
namespace gangrun::client {

// `text` (of a user's process) as one line that does nothing to a terminal but show itself: colours
// and other escape sequences are gone, what a carriage return would have overwritten is gone, tabs
// are spaces; other control characters, characters that change the direction of writing and bytes
// that are not UTF-8 are U+FFFD.
std::string harmless(std::string_view text);

// A path as an error shows it: whole, so that it can be copied.
std::string path_in_quotes(std::string_view path);

// Columns that `text` (harmless) takes on a terminal: two for East Asian wide characters and
// pictures, none for combining marks.
std::size_t display_width(std::string_view text);

// `text` cut to `width` columns, with "…" where something was cut.
std::string cut(std::string_view text, std::size_t width);
// The same, and filled with spaces to `width`.
std::string fit(std::string_view text, std::size_t width);

// "812 MiB", "1.5 GiB"; "-" for 0.
std::string bytes_text(std::int64_t bytes);

// "1 task", "3 tasks".
std::string count_text(std::int64_t count, std::string_view noun);

}  // namespace gangrun::client
