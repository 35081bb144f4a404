#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "frameworks/environment.h"
#include "job/cluster_spec.h"
#include "job/spec.h"

// Jobs and cluster specs for the tests of this room.
namespace gangrun::frameworks::test {

inline job::TaskSpec task_of(std::string type, int instances, int processes = 1) {
  job::TaskSpec task;
  task.policy = job::default_policy(type);
  task.type = std::move(type);
  task.instances = instances;
  task.processes = processes;
  return task;
}

inline job::JobSpec job_of(std::vector<job::TaskSpec> tasks) {
  job::JobSpec job;
  job.name = "test";
  job.tasks = std::move(tasks);
  job.restarts.max = 3;
  return job;
}

// Every task at "h<number of the type>:<1000 * number of the type + index>", types counted from 1
// in the order of the spec.
inline job::ClusterSpec cluster_of(const job::JobSpec& job, int generation = 1) {
  job::ClusterSpec cluster{.generation = generation, .tasks = {}};
  int number = 0;
  for (const job::TaskSpec& task : job.tasks) {
    ++number;
    for (int i = 0; i < task.instances; ++i) {
      cluster.tasks[task.type].push_back(
          {base::format("h{}", number), static_cast<std::uint16_t>(1000 * number + i)});
    }
  }
  return cluster;
}

// The variables of one process, or {{"error", its message}}.
inline Variables variables_of(const job::JobSpec& job, const job::TaskId& task, int process = 0,
                              int restarts = 0) {
  const job::ClusterSpec cluster = cluster_of(job);
  auto environment = environment_of(
      {.job = job, .cluster = cluster, .job_id = "j1", .restarts = restarts}, task, process);
  if (!environment.ok()) return {{"error", environment.error().message}};
  return environment->variables;
}

// Those of them whose names begin with one of `prefixes`.
inline Variables only(const Variables& variables, const std::vector<std::string>& prefixes) {
  Variables chosen;
  for (const auto& [name, value] : variables) {
    for (const std::string& prefix : prefixes) {
      if (name.starts_with(prefix)) chosen[name] = value;
    }
  }
  return chosen;
}

}  // namespace gangrun::frameworks::test
