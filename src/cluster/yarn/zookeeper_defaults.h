#pragma once

#include "base/result.h"
#include "hadoop/configuration.h"
#include "job/spec.h"

namespace gangrun::cluster {

// What a job asks of ZooKeeper, with what it leaves open as Hadoop's configuration has it.
// kInvalidArgument where neither names any host.
base::Result<job::ZooKeeper> with_defaults_of(const job::ZooKeeper& zookeeper,
                                              const hadoop::Configuration& configuration);

}  // namespace gangrun::cluster
