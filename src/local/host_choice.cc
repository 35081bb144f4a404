#include "local/host_choice.h"

#include <algorithm>

#include "base/check.h"
#include "base/format.h"

namespace gangrun::local {

HostChoice::HostChoice(const std::vector<job::Host>& hosts) {
  for (const job::Host& host : hosts) slots_.push_back({host});
}

base::Result<std::string> HostChoice::take(const std::optional<job::Address>& wanted,
                                           const std::vector<std::string>& avoided,
                                           const LookAt& look_at) {
  if (slots_.empty()) return std::string();
  std::string before;
  if (wanted) {
    const auto known = host_of_address_.find(wanted->host);
    if (known != host_of_address_.end()) before = known->second;
  }
  std::set<std::string> passed_over(avoided.begin(), avoided.end());
  std::set<std::string> unusable;
  std::string missing = "all slots of the hosts are taken";
  while (true) {
    Slots* const slots = free_slots(before, passed_over);
    if (slots == nullptr && passed_over == unusable) return base::unavailable(missing);
    if (slots == nullptr) {
      // Better one to avoid than none.
      passed_over = unusable;
      continue;
    }
    const std::string& host = slots->host.name;
    const auto address = look_at(host);
    if (address.ok()) {
      ++slots->taken;
      host_of_address_[*address] = host;
      return host;
    }
    unusable.insert(host);
    passed_over.insert(host);
    missing = base::format("host {} cannot be used: {}", host, address.error().message);
  }
}

HostChoice::Slots* HostChoice::free_slots(const std::string& wanted,
                                          const std::set<std::string>& unusable) {
  const auto fits = [&](const Slots& slots) {
    return (!slots.host.slots || slots.taken < *slots.host.slots) &&
           !unusable.contains(slots.host.name);
  };
  if (Slots* const own = slots_of(wanted); own != nullptr && fits(*own)) return own;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const std::size_t turn = (next_ + i) % slots_.size();
    if (!fits(slots_[turn])) continue;
    next_ = turn + 1;
    return &slots_[turn];
  }
  return nullptr;
}

HostChoice::Slots* HostChoice::slots_of(const std::string& host) {
  const auto found =
      std::ranges::find_if(slots_, [&host](const Slots& slots) { return slots.host.name == host; });
  return found == slots_.end() ? nullptr : &*found;
}

bool HostChoice::take_back(const std::string& host) {
  Slots* const slots = slots_of(host);
  if (slots != nullptr) ++slots->taken;
  return slots != nullptr;
}

void HostChoice::give_back(const std::string& host) {
  if (host.empty()) return;
  Slots* const slots = slots_of(host);
  GANGRUN_CHECK(slots != nullptr && slots->taken > 0, host);
  --slots->taken;
}

}  // namespace gangrun::local
