#include "local/host_choice.h"

#include <set>

#include "base/format.h"

namespace gangrun::local {

HostChoice::HostChoice(const std::vector<job::Host>& hosts)
    : has_hosts_(!hosts.empty()), slots_(hosts) {}

base::Result<std::string> HostChoice::take(const std::optional<job::Address>& wanted,
                                           const std::vector<std::string>& avoided,
                                           const LookAt& look_at) {
  if (!has_hosts_) return std::string();
  std::string before;
  if (wanted) {
    const auto known = host_of_address_.find(wanted->host);
    if (known != host_of_address_.end()) before = known->second;
  }
  std::set<std::string> passed_over(avoided.begin(), avoided.end());
  std::set<std::string> unusable;
  std::string missing = "all slots of the hosts are taken";
  while (true) {
    const auto host = slots_.take(before, passed_over);
    if (!host && passed_over == unusable) return base::unavailable(missing);
    if (!host) {
      // Better one to avoid than none.
      passed_over = unusable;
      continue;
    }
    const auto address = look_at(*host);
    if (address.ok()) {
      host_of_address_[*address] = *host;
      return *host;
    }
    slots_.give_back(*host);
    unusable.insert(*host);
    passed_over.insert(*host);
    missing = base::format("host {} cannot be used: {}", *host, address.error().message);
  }
}

void HostChoice::give_back(const std::string& host) {
  if (!host.empty()) slots_.give_back(host);
}

}  // namespace gangrun::local
