#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/sizes.h"
#include "base/strings.h"
#include "base/terminal_text.h"

// Text on its way to a terminal.
namespace gangrun::client {

using base::count_text;
using base::cut;
using base::display_width;
using base::harmless_output;
using base::harmless_sentence;
using base::size_text;
using base::Tabs;

// A path as an error shows it: whole, so that it can be copied.
std::string path_in_quotes(std::string_view path);

// cut(), and filled with spaces to `width`.
std::string fit(std::string_view text, std::size_t width);

// The size in a table; "-" for 0: it is not known.
std::string bytes_text(std::int64_t bytes);

// "a, b and c".
std::string list_text(const std::vector<std::string>& items);

}  // namespace gangrun::client
