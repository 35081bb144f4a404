#include "ssh/where_tasks_work.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/format.h"
#include "base/strings.h"
#include "job/units.h"
#include "ssh/ssh_launcher.h"

namespace gangrun::ssh {

namespace {

// How many hosts the sentence names.
constexpr std::size_t kMaxNamed = 3;

}  // namespace

std::optional<std::string> where_tasks_work(const WorkingFolder& folder,
                                            const std::vector<HostFolder>& hosts) {
  std::vector<std::string> others;
  for (const HostFolder& each : hosts) {
    if (!each.is_shared) others.push_back(each.host);
  }
  const bool are_all = others.size() == hosts.size();
  const std::string named = base::first_and_more(others, kMaxNamed);
  if (!folder.remark.empty()) {
    // It says what becomes of them.
    if (others.empty()) return folder.remark;
    return base::format("{}; on {} they are in a copy of {}{}", folder.remark,
                        are_all ? "each host" : named, folder.path,
                        folder.no_mark.empty() ? "" : base::format(": {}", folder.no_mark));
  }
  if (others.empty()) return std::nullopt;
  const std::string copied =
      base::format("a folder that is copied there and {}",
                   folder.is_kept ? "stays until `gangrun rm`" : "removed at the end");
  if (!folder.no_mark.empty()) {
    return base::format(
        "tasks work on each host in {}: whether it shares {} cannot be found out: {}", copied,
        folder.path, folder.no_mark);
  }
  if (are_all) {
    return base::format("tasks work on each host in {}: none of them shares {}", copied,
                        folder.path);
  }
  return base::format("tasks work in {}, but on {} in {}: {} not share it", folder.path, named,
                      copied, others.size() == 1 ? "it does" : "they do");
}

std::string where_tasks_would_work(const std::string& folder, const job::JobSpec& spec) {
  const std::int64_t most = spec.outputs_limit_mib.value_or(kDefaultOutputsMib);
  std::vector<std::string> brought;
  for (const job::TaskSpec& task : spec.tasks) {
    const auto& named = spec.outputs_of(task);
    if (!named) {
      brought.push_back(base::format("new and changed files up to {}", job::memory_text(most)));
    } else if (!named->empty()) {
      brought.emplace_back("what `outputs` names");
    }
  }
  std::sort(brought.begin(), brought.end());
  brought.erase(std::unique(brought.begin(), brought.end()), brought.end());
  return base::format(
      "{} on hosts that share it; on others in a copy, which {} (comes to outputs/HOST: {})",
      folder, spec.keep_folders ? "stays until `gangrun rm`" : "is removed at the end",
      brought.empty() ? "nothing" : base::format("{}", base::join(brought, " and ")));
}

}  // namespace gangrun::ssh
