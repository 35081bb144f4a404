#include "cluster/ssh/where_tasks_work.h"

#include <cstddef>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::cluster {

namespace {

// How many hosts the sentence names.
constexpr std::size_t kMaxNamed = 3;

}  // namespace

std::optional<std::string> where_tasks_work(const std::string& folder, const std::string& no_mark,
                                            const std::vector<HostFolder>& hosts) {
  std::vector<std::string> others;
  for (const HostFolder& each : hosts) {
    if (!each.is_shared) others.push_back(each.host);
  }
  if (others.empty()) return std::nullopt;
  const std::string copied = "a folder that is copied there and removed at the end";
  if (!no_mark.empty()) {
    return base::format(
        "tasks work on each host in {}: whether it shares {} cannot be found out: {}", copied,
        folder, no_mark);
  }
  if (others.size() == hosts.size()) {
    return base::format("tasks work on each host in {}: none of them shares {}", copied, folder);
  }
  return base::format("tasks work in {}, but on {} in {}: {} not share it", folder,
                      base::first_and_more(others, kMaxNamed), copied,
                      others.size() == 1 ? "it does" : "they do");
}

}  // namespace gangrun::cluster
