#pragma once

#include <sys/resource.h>

#include "base/result.h"

namespace gangrun::process {

// Raises this process's soft limit of open files to its hard one: a master holds several for each
// task. To be called first in main. What spawn() starts has the limit that was there before, as
// programs that use select() fail with more.
void raise_open_file_limit();

// kFailedPrecondition where this process cannot have so many open at once: a sentence with both
// numbers.
base::Result<> check_open_files(rlim_t needed);

// The limit that children have; null where nothing was raised.
const rlimit* open_file_limit_of_children();

}  // namespace gangrun::process
