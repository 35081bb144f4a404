#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "hadoop/records.h"
#include "job/spec.h"
#include "net/certificate.h"
#include "registry/zookeeper_files.h"

namespace gangrun::cluster {

// Under which the master finds its configuration among its container's credentials: there it is in
// neither a command line nor a launch script, and only the job's user and YARN can read it.
inline constexpr const char* kMasterConfigSecret = "gangrun.master";

// A submission travels through the ResourceManager's store; ZooKeeper, a usual one, takes 1 MiB.
inline constexpr std::size_t kMaxMasterConfigBytes = std::size_t{768} << 10U;

// Everything that the master of a job on YARN must know.
struct YarnMasterConfig {
  job::JobSpec spec;
  base::Secret secret;
  registry::ZooKeeperFiles zookeeper_files{};  // of the client's machine
  net::JobCertificate certificate;
  base::WallTime submitted;
  // Of Hadoop's configuration, as the client has it: no node's own is relied upon.
  std::map<std::string, std::string> hadoop;
  std::string user;            // who has submitted the job
  std::string staging_folder;  // of the job, on the cluster's file system
  std::string history_folder;  // of the user, likewise
  // Nodes that asks may name.
  std::vector<hadoop::NodeReport> nodes;
  // On a cluster with Kerberos; else empty. For whom the token of the job's own file system is; and
  // whose keytab is in the master's container, by which new tokens can be got.
  std::string token_service{};
  std::string principal{};
  std::string krb5_config{};  // the client's KRB5_CONFIG; used where the node has that file
  // What every task's container gets, by the name of its link; the agent among them.
  std::map<std::string, hadoop::LocalResource> files;
  // What those of one type get besides.
  std::map<std::string, std::map<std::string, hadoop::LocalResource>> archives;
};

base::Json to_json(const YarnMasterConfig& config);
base::Result<YarnMasterConfig> yarn_master_config_from_json(const base::Json& json);

}  // namespace gangrun::cluster
