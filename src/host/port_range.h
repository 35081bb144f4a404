#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace gangrun::host {

// The ports of which a free one is taken; 0: any port.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;

  friend bool operator==(const PortRange&, const PortRange&) = default;
};

// "4711" or "4711-4720".
base::Result<PortRange> port_range_from(std::string_view text);

}  // namespace gangrun::host
