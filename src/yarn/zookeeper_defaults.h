#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "hadoop/configuration.h"
#include "job/spec.h"
#include "mirror/zookeeper_tree.h"

namespace gangrun::yarn {

// The job's section for ZooKeeper, completed by Hadoop's configuration.
// kInvalidArgument where neither names any host.
base::Result<job::ZooKeeper> with_defaults_of(const job::ZooKeeper& zookeeper,
                                              const hadoop::Configuration& configuration);

// A job's login by SASL at ZooKeeper.
struct RegistryLogin {
  bool is_there = false;
  std::string realm{};  // of its user, where it is by Kerberos
};

// Those whom hadoop.registry.system.accounts names, "scheme:id" by commas, or else ….system.acls;
// where neither is set and the registry is secure, those of Hadoop. Of the scheme sasl only where
// the registry is secure, or the job logs in by SASL: other servers refuse them. As Hadoop's
// RegistrySecurity has it, a name that ends with "@" is of hadoop.registry.kerberos.realm, or else
// of the login's realm; without any it is left out.
std::vector<mirror::Administrator> registry_administrators(
    const hadoop::Configuration& configuration, const RegistryLogin& login);

}  // namespace gangrun::yarn
