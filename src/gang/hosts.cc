#include "gang/hosts.h"

#include <algorithm>

namespace gangrun::gang {

void Hosts::saw(const std::string& host) { seen_.insert(host); }

bool Hosts::failed_on(const std::string& host, const job::TaskId& task, base::Instant now) {
  std::vector<Failure>& failures = failures_[host];
  std::erase_if(failures, [&](const Failure& failure) { return failure.at + kWindow <= now; });
  if (!failures.empty() && now < failures.back().at + kOneFailure &&
      failures.back().tasks.insert(task).second) {
    return false;
  }
  failures.push_back({now, {task}});
  if (failures.size() < kFailures) return false;
  failures_.erase(host);
  bad_since_[host] = now;
  return true;
}

std::vector<std::string> Hosts::to_avoid(base::Instant now) const {
  std::vector<std::string> bad;
  for (const auto& [host, since] : bad_since_) {
    if (since + kCoolDown > now) bad.push_back(host);
  }
  const bool all = std::all_of(seen_.begin(), seen_.end(), [&](const std::string& host) {
    return std::binary_search(bad.begin(), bad.end(), host);
  });
  if (!all || bad.empty()) return bad;
  const auto longest =
      std::min_element(bad.begin(), bad.end(), [this](const std::string& a, const std::string& b) {
        return bad_since_.at(a) < bad_since_.at(b);
      });
  bad.erase(longest);
  return bad;
}

bool Hosts::avoids(const std::string& host, base::Instant now) const {
  const std::vector<std::string> avoided = to_avoid(now);
  return std::binary_search(avoided.begin(), avoided.end(), host);
}

}  // namespace gangrun::gang
