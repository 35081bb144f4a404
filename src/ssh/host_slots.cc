#include "ssh/host_slots.h"

#include <algorithm>

namespace gangrun::ssh {

HostSlots::HostSlots(const std::vector<job::Host>& hosts, int tasks) {
  int left = tasks;
  int without_number = 0;
  for (const job::Host& host : hosts) {
    if (host.slots) {
      left -= *host.slots;
    } else {
      ++without_number;
    }
  }
  left = std::max(left, 0);
  for (const job::Host& host : hosts) {
    Entry entry{host.name, host.slots.value_or(0), !host.slots};
    if (!host.slots) {
      // The first ones have one more where it does not divide.
      entry.share = (left + without_number - 1) / without_number;
      left -= entry.share;
      --without_number;
    }
    entries_.push_back(std::move(entry));
  }
}

std::optional<std::size_t> HostSlots::take(const std::string& wanted,
                                           const std::set<std::string>& unusable) {
  const auto find = [&](const auto& is_right) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!unusable.contains(entries_[i].name) && is_right(entries_[i])) return i;
    }
    return std::nullopt;
  };
  auto found = find([&](const Entry& entry) {
    return entry.name == wanted && (entry.taken < entry.share || entry.takes_any);
  });
  if (!found) found = find([](const Entry& entry) { return entry.taken < entry.share; });
  if (!found) found = find([](const Entry& entry) { return entry.takes_any; });
  if (found) ++entries_[*found].taken;
  return found;
}

}  // namespace gangrun::ssh
