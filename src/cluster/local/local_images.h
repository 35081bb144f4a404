#pragma once

#include <set>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "job/spec.h"
#include "process/engine.h"

namespace gangrun::cluster {

// Those that the tasks of the job run in.
std::set<std::string> images_of(const job::JobSpec& spec);

// Whether `engine` (process::find_engine()) has every image of the job on this machine: nothing is
// fetched while a job waits. The error names the field, the image and what the engine says.
base::Result<> check_images(const job::JobSpec& spec, const base::Result<std::string>& engine,
                            base::Instant deadline);

}  // namespace gangrun::cluster
