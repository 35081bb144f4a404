#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::cluster {

// GPUs are given out once on a machine, whoever runs jobs on it, by the lock (flock) on a file for
// each of them. All users may add files to the folder, and none can take away another's.

// Makes the folder where it is missing. kFailedPrecondition where it is something else, or where
// others could take away what is in it and it is not ours (`user`) to mend.
base::Result<> make_gpu_lock_folder(const std::string& folder, uid_t user = ::geteuid());

// The lock of a GPU, which is given back when the last descriptor is closed; none where another has
// it, or where there is no plain file in its place.
base::UniqueFd lock_gpu(const std::string& folder, int gpu);

}  // namespace gangrun::cluster
