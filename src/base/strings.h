#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gangrun::base {

// The word in a server's principal of Kerberos for the host on which it runs.
inline constexpr std::string_view kHostPattern = "_HOST";

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

// Whether one character, as UTF-8, does something else than show itself: C0 and C1 controls,
// separators of lines, and what changes the direction of writing.
bool is_control(std::string_view sequence);

// `text` as one line that does nothing but show itself: control characters, those that change the
// direction of writing, and bytes that are not UTF-8 are written as \n, \t or \xNN.
std::string printable(std::string_view text);

// At most `max_bytes` of `text`, cut between code points, with "…" where something was cut.
std::string shorten(std::string_view text, std::size_t max_bytes);

// "1 task", "3 tasks".
std::string count_text(std::int64_t count, std::string_view noun);

// "a, b and 3 more": the first `most` of `items`, each as `name` gives it, and how many there are
// besides. Only what is shown is named: there may be thousands.
template <typename Items, typename Name = std::identity>
std::string first_and_more(const Items& items, std::size_t most, Name name = {}) {
  std::string text;
  std::size_t shown = 0;
  for (const auto& item : items) {
    if (shown == most) break;
    if (shown++ > 0) text += ", ";
    text += std::invoke(name, item);
  }
  if (items.size() > shown) text += " and " + std::to_string(items.size() - shown) + " more";
  return text;
}

// A text that a user has written, without the byte order mark with which editors of other systems
// begin one. kInvalidArgument where the mark is that of UTF-16.
Result<std::string_view> without_mark(std::string_view text);

}  // namespace gangrun::base
