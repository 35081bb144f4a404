#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gangrun::process {

// Whether a line of a program's standard error says that an address which it wanted to bind is in
// use: the system's own words, which most programs hand on, and those of servers that have their
// own. It explains a failure to a person; nothing is decided by it.
[[nodiscard]] bool says_address_in_use(std::string_view line);

// The ports that a text names as such, in its order: "localhost:6006", "port: 29500",
// "--master_port=29500", "('', 29500)". Each once.
[[nodiscard]] std::vector<std::uint16_t> named_ports(std::string_view text);

// The numbers that may be ports in lines of code, in their order: `server.bind(("", 5000))`,
// `app.run(port=5000)`. Each once.
[[nodiscard]] std::vector<std::uint16_t> ports_in_code(std::string_view text);

// The numbers that may be ports in a command: those that it names as such or has in lines of code,
// then words that are a number (`python3 serve.py 8000`). Each once.
[[nodiscard]] std::vector<std::uint16_t> ports_in_command(const std::vector<std::string>& words);

}  // namespace gangrun::process
