#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace gangrun::zookeeper {

// Every address of every "host" or "host:port", in the form that ZooKeeper's client reads. Blocks,
// until about `deadline`. A name that does not resolve is an error only where no other one does.
base::Result<std::vector<std::string>> numeric_servers(const std::vector<std::string>& hosts,
                                                       base::Instant deadline);

}  // namespace gangrun::zookeeper
