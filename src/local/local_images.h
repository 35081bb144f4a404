#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "job/spec.h"
#include "process/engine.h"

namespace gangrun::local {

// Whether `engine` (process::find_engine()) has every image of the job on this machine: nothing is
// fetched while a job waits. The error names the field, the image and what the engine says.
base::Result<> check_images(const job::JobSpec& spec, const base::Result<std::string>& engine,
                            base::Instant deadline);

}  // namespace gangrun::local
