#pragma once

#include <sys/resource.h>

namespace gangrun::process {

// Raises this process's soft limit of open files to its hard one: a master holds several for each
// task. To be called first in main. What spawn() starts has the limit that was there before, as
// programs that use select() fail with more.
void raise_open_file_limit();

// That limit; null where nothing was raised.
const rlimit* open_file_limit_of_children();

}  // namespace gangrun::process
