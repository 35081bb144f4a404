#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "hadoop/configuration.h"
#include "job/spec.h"

namespace gangrun::cluster {

// What a job asks of ZooKeeper, with what it leaves open as Hadoop's configuration has it.
// kInvalidArgument where neither names any host.
base::Result<job::ZooKeeper> with_defaults_of(const job::ZooKeeper& zookeeper,
                                              const hadoop::Configuration& configuration);

// One who administers YARN's registry: an id of ZooKeeper's ACLs.
struct RegistryAdministrator {
  std::string scheme{};
  std::string id{};

  friend bool operator==(const RegistryAdministrator&, const RegistryAdministrator&) = default;
};

// Those whom hadoop.registry.system.acls names, "scheme:id" by commas; nobody where it is not set.
// Of the scheme sasl only where the registry is secure: other servers refuse them. As Hadoop's
// RegistrySecurity has it, a name that ends with "@" is of hadoop.registry.kerberos.realm.
std::vector<RegistryAdministrator> registry_administrators(
    const hadoop::Configuration& configuration);

}  // namespace gangrun::cluster
