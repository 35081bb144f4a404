#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "hadoop/manager_pages.h"
#include "hadoop/records.h"
#include "job/spec.h"
#include "yarn/task_container.h"

namespace gangrun::yarn {

// The facts about a cluster that decide whether a job can ever run there.
struct ClusterFacts {
  std::string user;          // whom the job would be of
  hadoop::Resource largest;  // container
  std::vector<hadoop::ResourceType> resource_types;
  std::vector<std::string> labels;
  hadoop::QueueInfo queue;
  std::vector<std::string> own_queues;  // to which the user may submit
  bool places_by_constraints = false;   // whether it is set up for "not two on one node"
  bool runs_images = false;             // whether the job's images are left to YARN's own runtime
  std::optional<hadoop::Release> release;
};

// kInvalidArgument where it is older than what gangrun speaks to; one that does not tell is taken.
base::Result<> check_release(const std::optional<hadoop::Release>& release);

// Without those that have queues below them: these take no jobs.
std::vector<std::string> leaves_of(const std::vector<std::string>& queues);

// Whether jobs can be submitted to the queue, by this user.
base::Result<> check_queue(const ClusterFacts& facts);

// Everything that YARN would refuse, forget or leave waiting forever, as one error that names
// field, value and what is allowed.
base::Result<> check_against(const ClusterFacts& facts, const job::JobSpec& spec);

}  // namespace gangrun::yarn
