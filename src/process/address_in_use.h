#pragma once

#include <string_view>

namespace gangrun::process {

// Whether a line of a program's standard error says that an address which it wanted to bind is in
// use: the system's own words, which most programs hand on, and those of servers that have their
// own.
[[nodiscard]] bool says_address_in_use(std::string_view line);

}  // namespace gangrun::process
