#include "yarn/preparations.h"

#include <algorithm>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::yarn {

namespace {

// How many tasks a sentence names.
constexpr std::size_t kMaxNamed = 5;

}  // namespace

void Preparations::taken_on(const hadoop::ContainerId& id, const job::TaskId& task,
                            const hadoop::NodeId& node, base::Instant now) {
  if (!archives_.empty()) containers_[id] = {task, node, now + kPreparationLook};
}

std::optional<base::Instant> Preparations::next_look() const {
  std::optional<base::Instant> next;
  for (const auto& [id, container] : containers_) {
    next = next ? std::min(*next, container.look_at) : container.look_at;
  }
  return next;
}

std::map<hadoop::NodeId, std::vector<hadoop::ContainerId>> Preparations::take_look(
    base::Instant now) {
  std::map<hadoop::NodeId, std::vector<hadoop::ContainerId>> asked;
  for (auto& [id, container] : containers_) {
    if (container.look_at > now) continue;
    std::vector<hadoop::ContainerId>& of_node = asked[container.node];
    if (of_node.size() < kMaxAskedContainers) of_node.push_back(id);
    container.look_at = now + kPreparationLook;
  }
  return asked;
}

void Preparations::told(const std::vector<hadoop::ContainerId>& asked,
                        const base::Result<std::vector<hadoop::ContainerStatus>>& statuses) {
  if (!statuses.ok()) return;
  for (const hadoop::ContainerId& id : asked) {
    const auto known = containers_.find(id);
    if (known == containers_.end()) continue;
    const auto status = std::ranges::find(*statuses, id, &hadoop::ContainerStatus::id);
    known->second.is_being_prepared = status != statuses->end() && status->is_being_prepared;
    if (!known->second.is_being_prepared) {
      containers_.erase(known);
    } else if (status->files > 0) {
      known->second.progress = base::format(" ({} of {} there)", status->files_there,
                                            base::count_text(status->files, "file"));
    }
  }
}

std::string Preparations::words() const {
  std::set<std::pair<job::TaskId, std::string>> prepared;
  for (const auto& [id, container] : containers_) {
    if (!container.is_being_prepared) continue;
    prepared.emplace(container.task, container.node.host + container.progress);
  }
  if (prepared.empty()) return {};
  std::vector<std::string> tasks;
  for (const auto& [task, host] : prepared) {
    tasks.push_back(base::format("{} on {}", job::to_string(task), host));
  }
  return base::format("nodes still fetch and unpack {} for {}", base::join(archives_, ", "),
                      base::first_and_more(tasks, kMaxNamed));
}

}  // namespace gangrun::yarn
