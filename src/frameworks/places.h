#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/cluster_spec.h"
#include "job/spec.h"

namespace gangrun::frameworks {

// The tasks of one type, as one generation of the job has them.
struct Group {
  const job::TaskSpec* spec = nullptr;
  job::Policy policy = job::Policy::kTracked;            // the effective one
  const std::vector<job::Address>* addresses = nullptr;  // by place, never empty
};

// The groups of a job in the one order that ranks and lists follow: chief, master, then the others
// as the user wrote them. Borrows from both. An error where the cluster spec has a
// type that the job does not have.
base::Result<std::vector<Group>> groups_of(const job::JobSpec& job,
                                           const job::ClusterSpec& cluster);

// The tasks that a task sees: tracked tasks and services; an observer also its own type.
std::vector<Group> visible_to(const job::TaskId& task, const std::vector<Group>& groups);

// {"worker":["host:port",…],…} as one line of JSON. Each agent writes the addresses of all.
std::string json_of(const std::vector<Group>& groups);

// The place of one process among those of all tracked tasks. "local" counts within the task,
// "group" counts tasks, "role" counts the processes of the task's type.
struct Ranks {
  int rank = 0;
  int world_size = 0;
  int local_rank = 0;
  int local_world_size = 0;
  int group_rank = 0;
  int group_world_size = 0;
  int role_rank = 0;
  int role_world_size = 0;
  job::Address first;  // of the task that has rank 0

  friend bool operator==(const Ranks&, const Ranks&) = default;
};

// None for a task that is not tracked: it has no rank. The index of `task` is its place.
std::optional<Ranks> ranks_of(const job::TaskId& task, int process,
                              const std::vector<Group>& groups);

// The same place as Horovod counts it: "local" among the processes on the same host, whatever their
// task; "cross" among the hosts that have a process of this local rank, in the order of their
// ranks.
struct HostRanks {
  int local_rank = 0;
  int local_size = 0;
  int cross_rank = 0;
  int cross_size = 0;

  friend bool operator==(const HostRanks&, const HostRanks&) = default;
};

// The place of the process with this rank of ranks_of().
HostRanks host_ranks_of(int rank, const std::vector<Group>& groups);

}  // namespace gangrun::frameworks
