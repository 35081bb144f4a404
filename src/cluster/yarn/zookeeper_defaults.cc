#include "cluster/yarn/zookeeper_defaults.h"

#include "base/format.h"
#include "job/zookeeper.h"

namespace gangrun::cluster {

namespace {

constexpr const char* kQuorum = "hadoop.registry.zk.quorum";
constexpr const char* kRoot = "hadoop.registry.zk.root";

}  // namespace

base::Result<job::ZooKeeper> with_defaults_of(const job::ZooKeeper& zookeeper,
                                              const hadoop::Configuration& configuration) {
  job::ZooKeeper full = zookeeper;
  if (full.hosts.empty()) full.hosts = configuration.list(kQuorum);
  if (full.hosts.empty()) {
    return base::invalid_argument(
        base::format("zookeeper.hosts is not given, and Hadoop's configuration does not say {}; "
                     "allowed: a list of HOST or HOST:PORT in either",
                     kQuorum));
  }
  if (full.root.empty()) full.root = configuration.get_or(kRoot, "");
  if (const auto problem = job::check_zookeeper(full)) {
    const bool is_root = problem->path == "zookeeper.root";
    return configuration.error(is_root ? kRoot : kQuorum, is_root
                                                              ? "expected a path such as /registry"
                                                              : "expected HOST:PORT,HOST:PORT,...");
  }
  return full;
}

}  // namespace gangrun::cluster
