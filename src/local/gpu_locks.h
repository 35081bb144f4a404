#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "job/gpus.h"

namespace gangrun::local {

// GPUs are given out once on a machine, whoever runs jobs on it, by the lock (flock) on a file for
// each of them. All users may add files to the folder, and none can take away another's.

// Makes the folder where it is missing. kFailedPrecondition where it is something else, or where
// others could take away what is in it and it is not ours (`user`) to mend.
base::Result<> make_gpu_lock_folder(const std::string& folder, uid_t user = ::geteuid());

// The folder that all users of this machine have: GANGRUN_GPU_LOCKS, else one below /tmp. It is
// made where it is missing.
base::Result<std::string> gpu_lock_folder();

// The locks of a GPU, which are given back when the last descriptors are closed: its own, and of a
// part the one of the whole, together with other parts. None where others have it, or where there
// is no plain file in a lock's place.
std::vector<base::UniqueFd> lock_gpu(const std::string& folder, const job::Gpu& gpu);

}  // namespace gangrun::local
