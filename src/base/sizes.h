#pragma once

#include <cstdint>
#include <string>

namespace gangrun::base {

// "5 B", "1.5 KiB", "812 MiB", "1.2 GiB": a size as people read it.
std::string size_text(std::uint64_t bytes);

}  // namespace gangrun::base
