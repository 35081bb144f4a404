#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Text that others have made, on its way to a terminal: of users' processes, hosts, clusters and
// programs. This is the one place where it is cleaned.
namespace gangrun::base {

// How much of a sentence, and of what others say in it, is shown.
inline constexpr std::size_t kMaxSentence = 4096;
inline constexpr std::size_t kMaxTheirWords = 300;

// Spaces where columns are counted, or something stands before the text on a terminal.
enum class Tabs { kAreSpaces, kStay };

// `text` (of a user's process) as one line that does nothing to a terminal but show itself: colours
// and other escape sequences are gone, what a carriage return would have overwritten is gone; other
// control characters, characters that change the direction of writing and bytes that are not UTF-8
// are U+FFFD.
std::string harmless_output(std::string_view text, Tabs tabs = Tabs::kAreSpaces);

// A sentence of ours that may have text of others in it, as one line: the same, but ends of lines
// and carriage returns are spaces. Longer ones are shortened.
std::string harmless_sentence(std::string_view text);

// Another program's words, in quotes, for a sentence of ours: harmless, in one line, shortened.
std::string their_words(std::string_view text, std::size_t max_bytes = kMaxTheirWords);

// Columns that `text` (harmless) takes on a terminal: two for East Asian wide characters and
// pictures, none for combining marks.
std::size_t display_width(std::string_view text);

// `text` cut to `width` columns, with "…" where something was cut.
std::string cut(std::string_view text, std::size_t width);

}  // namespace gangrun::base
