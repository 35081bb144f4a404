#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/port_hold.h"

namespace gangrun::process {

// The ports of one task, held on all addresses of its host, IPv4's and IPv6's: which of them its
// program binds is its own affair. All different.
class PortHolds {
 public:
  // `count` ports, at least one; the first is `wanted` where that can be held.
  static base::Result<PortHolds> take(int count, std::optional<std::uint16_t> wanted);
  // As many others.
  [[nodiscard]] base::Result<PortHolds> others() const;

  [[nodiscard]] const std::vector<std::uint16_t>& numbers() const { return numbers_; }
  // To be inherited, in the order of the numbers; they stay ours. Empty while nothing is held.
  [[nodiscard]] std::vector<int> fds() const;
  // Why the wanted port is not the first one; empty: it is, or none was wanted.
  [[nodiscard]] const std::string& not_wanted_because() const { return not_wanted_because_; }

  // Lets go of all, so that programs can bind them that set no option; the numbers stay known.
  void release() { holds_.clear(); }
  // The very same again after release(). On an error none is held.
  base::Result<> hold_again();

 private:
  PortHolds() = default;

  std::vector<PortHold> holds_;
  std::vector<std::uint16_t> numbers_;
  std::string not_wanted_because_;
};

}  // namespace gangrun::process
