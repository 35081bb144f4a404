#pragma once

#include <string_view>

#include "base/result.h"
#include "job/spec.h"
#include "jobfile/problem.h"

namespace gangrun::jobfile {

// Whether all may read what is mirrored: "all" or "job".
base::Result<bool> readers_from(std::string_view text);

Found check_zookeeper(const job::ZooKeeper& zookeeper);

}  // namespace gangrun::jobfile
