#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace gangrun::host {

// Of these ports one that is free; 0: of all.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;

  friend bool operator==(const PortRange&, const PortRange&) = default;
};

// "4711" or "4711-4720".
base::Result<PortRange> port_range_from(std::string_view text);

}  // namespace gangrun::host
