#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "job/cluster_spec.h"
#include "job/task_id.h"
#include "zookeeper/node.h"

// The nodes that ZooKeeper is to show of a job's registry (docs/protocols/zookeeper.md). Pure.
namespace gangrun::mirror {

using zookeeper::Administrator;

// ZooKeeper's servers take 1 MiB for a node and all that comes with it.
inline constexpr std::size_t kMaxRecordBytes = std::size_t{960} << 10U;
// The root, unless Hadoop's configuration names another one.
inline constexpr std::string_view kDefaultZooKeeperRoot = "/registry";

// The place of a job in the tree, and who may read it.
struct ZooKeeperPlace {
  std::string root{kDefaultZooKeeperRoot};
  std::string user;  // as registry_user() makes it
  std::string job_name;
  std::string job_id;
  bool is_public = true;
  // Whether the user's jobs are one identity to ZooKeeper, whatever their secrets: then the nodes
  // that they share are theirs only.
  bool has_login = false;

  friend bool operator==(const ZooKeeperPlace&, const ZooKeeperPlace&) = default;
};

// A task that has reported.
struct ZooKeeperTask {
  job::TaskId task;
  job::Address address;
  std::string container;  // its YARN container's id; empty where it is in none

  friend bool operator==(const ZooKeeperTask&, const ZooKeeperTask&) = default;
};

// The user's name as YARN's registry writes it: in small letters, without realm and host.
// kInvalidArgument for one that is not of printable ASCII, which YARN's registry writes as a domain
// name would be, or that can be no part of a path.
base::Result<std::string> registry_user(std::string_view name);
// "ctr-1700000000000-0001-01-000002" for the id "container_1700000000000_0001_01_000002".
std::string registry_container(std::string_view id);
// "user:password" of the digest under which the job writes: whoever has the job's secret can make
// it.
base::Secret zookeeper_credentials(const base::Secret& secret);

// All nodes of the job, a parent before its children; none while no task has reported. `spec` has
// generation 0 before one is published.
std::vector<zookeeper::Node> zookeeper_tree(const ZooKeeperPlace& place,
                                            const job::ClusterSpec& spec,
                                            const std::vector<ZooKeeperTask>& tasks);

}  // namespace gangrun::mirror
