#pragma once

#include <string_view>

#include "base/result.h"
#include "job/problem.h"
#include "job/spec.h"

namespace gangrun::job {

// Whether all may read what is mirrored: "all" or "job".
base::Result<bool> readers_from(std::string_view text);

Found check_zookeeper(const ZooKeeper& zookeeper);

}  // namespace gangrun::job
