#include "local/slots.h"

#include <algorithm>

#include "base/check.h"

namespace gangrun::local {

Slots::Slots(const std::vector<job::Host>& hosts) {
  for (const job::Host& host : hosts) entries_.push_back({host});
}

std::optional<std::string> Slots::take(const std::string& wanted,
                                       const std::set<std::string>& unusable) {
  const auto fits = [&](const Entry& entry) {
    return entry.has_room() && !unusable.contains(entry.host.name);
  };
  for (Entry& entry : entries_) {
    if (entry.host.name != wanted || !fits(entry)) continue;
    ++entry.taken;
    return wanted;
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::size_t turn = (next_ + i) % entries_.size();
    if (!fits(entries_[turn])) continue;
    ++entries_[turn].taken;
    next_ = turn + 1;
    return entries_[turn].host.name;
  }
  return std::nullopt;
}

bool Slots::take_back(const std::string& host) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.host.name == host; });
  if (found == entries_.end()) return false;
  ++found->taken;
  return true;
}

void Slots::give_back(const std::string& host) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.host.name == host; });
  GANGRUN_CHECK(found != entries_.end() && found->taken > 0, host);
  --found->taken;
}

}  // namespace gangrun::local
