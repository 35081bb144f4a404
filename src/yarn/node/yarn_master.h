#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"

namespace gangrun::yarn::node {

// The master of a job on YARN, in the ApplicationMaster's container: returns when the job has ended
// and YARN has been told. An error: the attempt has failed, the next one goes on.
base::Result<> run_yarn_master(const base::Clock& clock, base::Logger& logger);

}  // namespace gangrun::yarn::node
