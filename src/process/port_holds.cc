#include "process/port_holds.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"

namespace gangrun::process {

namespace {

// If the kernel has no IPv6, the first cannot be held.
constexpr std::array kAllAddresses = {"::", "0.0.0.0"};

template <typename Take>
base::Result<PortHold> on_all_addresses(Take take) {
  base::Result<PortHold> held = take(kAllAddresses[0]);
  if (held.ok() || held.error().code == base::Code::kUnavailable) return held;
  return take(kAllAddresses[1]);
}

base::Result<PortHold> hold_any() {
  return on_all_addresses([](const char* address) { return PortHold::any(address); });
}

base::Result<PortHold> hold_exactly(std::uint16_t port) {
  return on_all_addresses([&](const char* address) { return PortHold::exactly(address, port); });
}

}  // namespace

base::Result<PortHolds> PortHolds::take(int count, std::optional<std::uint16_t> wanted) {
  GANGRUN_CHECK(count > 0, count);
  PortHolds all;
  if (wanted) {
    auto held = hold_exactly(*wanted);
    if (held.ok()) {
      all.holds_.push_back(*std::move(held));
    } else {
      all.not_wanted_because_ = held.error().message;
    }
  }
  while (all.holds_.size() < static_cast<std::size_t>(count)) {
    GANGRUN_ASSIGN(PortHold held, hold_any());
    all.holds_.push_back(std::move(held));
  }
  for (const PortHold& hold : all.holds_) all.numbers_.push_back(hold.port());
  return all;
}

// Ports that are held already are not given out again, so more are taken than are kept.
base::Result<PortHolds> PortHolds::others() const {
  const std::size_t count = numbers_.size();
  GANGRUN_ASSIGN(PortHolds more, take(static_cast<int>(2 * count), std::nullopt));
  PortHolds others;
  for (PortHold& hold : more.holds_) {
    const bool is_other =
        std::find(numbers_.begin(), numbers_.end(), hold.port()) == numbers_.end();
    if (!is_other || others.holds_.size() == count) continue;
    others.numbers_.push_back(hold.port());
    others.holds_.push_back(std::move(hold));
  }
  return others;
}

std::vector<int> PortHolds::fds() const {
  std::vector<int> fds;
  for (const PortHold& hold : holds_) fds.push_back(hold.fd());
  return fds;
}

base::Result<> PortHolds::hold_again() {
  std::vector<PortHold> holds;
  for (const std::uint16_t port : numbers_) {
    GANGRUN_ASSIGN(PortHold held, hold_exactly(port));
    holds.push_back(std::move(held));
  }
  holds_ = std::move(holds);
  return {};
}

}  // namespace gangrun::process
