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

// Descriptors 0 to 2 that our caller has closed would go to the next files that we open: what we
// print would be written into those, and what we start would have them. Each is opened here on what
// cannot be read (0) or written (1 and 2), so an attempt fails as on a closed one. To be called
// first in main, before anything is opened.
base::Result<> open_standard_files();

}  // namespace gangrun::process
