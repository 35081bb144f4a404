#pragma once

#include "base/result.h"

namespace gangrun::process {

// Descriptors 0 to 2 that our caller has closed would go to the next files that we open: what we
// print would be written into those, and what we start would have them. Each is opened here on what
// cannot be read (0) or written (1 and 2), so an attempt fails as on a closed one. To be called
// first in main, before anything is opened.
base::Result<> open_standard_files();

}  // namespace gangrun::process
