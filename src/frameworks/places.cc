#include "frameworks/places.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/format.h"
#include "base/json.h"

namespace gangrun::frameworks {

namespace {

int precedence(const Group& group) {
  if (group.spec->type == "chief") return 0;
  if (group.spec->type == "master") return 1;
  return 2;
}

}  // namespace

base::Result<std::vector<Group>> groups_of(const job::JobSpec& job,
                                           const job::ClusterSpec& cluster) {
  for (const auto& [type, addresses] : cluster.tasks) {
    if (job.find(type) == nullptr) {
      return base::invalid_argument(
          base::format("the cluster spec has the task type '{}', the job has not", type));
    }
  }
  std::vector<Group> groups;
  for (const job::TaskSpec& task : job.tasks) {
    const auto found = cluster.tasks.find(task.type);
    if (found == cluster.tasks.end() || found->second.empty()) continue;
    groups.push_back({&task, job::effective_policy(job, task), &found->second});
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return precedence(a) < precedence(b); });
  return groups;
}

std::vector<Group> visible_to(const job::TaskId& task, const std::vector<Group>& groups) {
  std::vector<Group> visible;
  for (const Group& group : groups) {
    const bool in_all =
        group.policy == job::Policy::kTracked || group.policy == job::Policy::kService;
    const bool own = group.policy == job::Policy::kObserver && group.spec->type == task.type;
    if (in_all || own) visible.push_back(group);
  }
  return visible;
}

std::string json_of(const std::vector<Group>& groups) {
  std::string text = "{";
  for (const Group& group : groups) {
    if (text.size() > 1) text += ',';
    base::append_json(text, group.spec->type);
    text += ":[";
    for (const job::Address& address : *group.addresses) {
      if (&address != group.addresses->data()) text += ',';
      base::append_json(text, job::to_string(address));
    }
    text += ']';
  }
  return text + '}';
}

std::optional<Ranks> ranks_of(const job::TaskId& task, int process,
                              const std::vector<Group>& groups) {
  Ranks ranks;
  bool found = false;
  for (const Group& group : groups) {
    if (group.policy != job::Policy::kTracked) continue;
    const int tasks = static_cast<int>(group.addresses->size());
    const int processes = group.spec->processes;
    if (ranks.group_world_size == 0) ranks.first = group.addresses->front();
    if (group.spec->type == task.type) {
      found = true;
      ranks.local_rank = process;
      ranks.local_world_size = processes;
      ranks.role_rank = task.index * processes + process;
      ranks.role_world_size = tasks * processes;
      ranks.group_rank = ranks.group_world_size + task.index;
      ranks.rank = ranks.world_size + ranks.role_rank;
    }
    ranks.group_world_size += tasks;
    ranks.world_size += tasks * processes;
  }
  if (!found) return std::nullopt;
  return ranks;
}

HostRanks host_ranks_of(int rank, const std::vector<Group>& groups) {
  std::vector<const std::string*> hosts;  // in the order of their first rank
  std::map<std::string_view, int> sizes;
  HostRanks ranks;
  std::string_view own;
  int next_rank = 0;
  for (const Group& group : groups) {
    if (group.policy != job::Policy::kTracked) continue;
    for (const job::Address& address : *group.addresses) {
      int& size = sizes[address.host];
      if (size == 0) hosts.push_back(&address.host);
      if (rank >= next_rank && rank < next_rank + group.spec->processes) {
        own = address.host;
        ranks.local_rank = size + rank - next_rank;
      }
      size += group.spec->processes;
      next_rank += group.spec->processes;
    }
  }
  ranks.local_size = sizes[own];
  for (const std::string* host : hosts) {
    if (*host == own) ranks.cross_rank = ranks.cross_size;
    if (sizes[*host] > ranks.local_rank) ++ranks.cross_size;
  }
  return ranks;
}

}  // namespace gangrun::frameworks
