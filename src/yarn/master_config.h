#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/described.h"
#include "base/result.h"
#include "base/secret.h"
#include "hadoop/records.h"
#include "job/spec.h"
#include "mirror/zookeeper_files.h"
#include "net/certificate.h"
#include "yarn/job_access.h"

namespace gangrun::base {

// Structs of rooms that know nothing of a master, as one is told of them.
template <>
struct RowsOf<net::JobCertificate> {
  static constexpr auto rows() {
    return std::tuple(row("certificate", &net::JobCertificate::certificate_pem),
                      row("key", &net::JobCertificate::key_pem));
  }
};

template <>
struct RowsOf<hadoop::LocalResource> {
  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    using Resource = hadoop::LocalResource;
    return std::tuple(GANGRUN_EACH(row, Resource, scheme, host, port, path, size, timestamp),
                      row("type", &Resource::type, ByNumber{}),
                      row("visibility", &Resource::visibility, ByNumber{}));
  }
};

template <>
struct RowsOf<hadoop::NodeReport> {
  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(flat_row(&hadoop::NodeReport::id), row("rack", &hadoop::NodeReport::rack));
  }
};

template <>
struct RowsOf<hadoop::NodeId> {
  static constexpr auto rows() { return std::tuple(row("host", &hadoop::NodeId::host)); }
};

}  // namespace gangrun::base

namespace gangrun::yarn {

// The name of the master's configuration among its container's credentials: there it is in
// neither a command line nor a launch script, and only the job's user and YARN can read it.
inline constexpr const char* kMasterConfigSecret = "gangrun.master";

// A submission travels through the ResourceManager's store; ZooKeeper, a usual one, takes 1 MiB.
inline constexpr std::size_t kMaxMasterConfigBytes = std::size_t{768} << 10U;

// Everything that the master of a job on YARN must know.
struct YarnMasterConfig {
  job::JobSpec spec;
  base::Secret secret;
  mirror::ZooKeeperFiles zookeeper_files{};  // of the client's machine
  net::JobCertificate certificate;
  base::WallTime submitted;
  // The properties of Hadoop's configuration, as the client has it: no node's own is relied upon.
  std::map<std::string, std::string> hadoop;
  std::string user;            // who has submitted the job
  std::string staging_folder;  // of the job, on the cluster's file system
  std::string history_folder;  // of the user, likewise
  // Nodes that asks may name.
  std::vector<hadoop::NodeReport> nodes;
  // On a cluster with Kerberos; else empty. The service of the token of the job's own file system;
  // and the principal whose keytab is in the master's container, which can get new tokens.
  std::string token_service{};
  std::string principal{};
  std::string krb5_config{};  // the client's KRB5_CONFIG; used where the node has that file
  // The files of every task's container, by the name of the link; the agent among them.
  hadoop::LocalResources files;
  // The further files of those of one type.
  std::map<std::string, hadoop::LocalResources> archives;

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(
        base::row("spec", &YarnMasterConfig::spec, YarnSpec{}),
        base::row("secret", &YarnMasterConfig::secret),
        base::row("zookeeper_files", &YarnMasterConfig::zookeeper_files),
        base::flat_row(&YarnMasterConfig::certificate),
        GANGRUN_EACH(base::row, YarnMasterConfig, submitted, hadoop, user, token_service, principal,
                     krb5_config, staging_folder, history_folder, nodes, files, archives));
  }
  // The certificate's fingerprint follows from it.
  base::Result<> complete() {
    GANGRUN_ASSIGN(certificate.fingerprint, net::fingerprint_of(certificate.certificate_pem));
    return {};
  }
};

}  // namespace gangrun::yarn
