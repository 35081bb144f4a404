#pragma once

#include "base/result.h"
#include "job/draft.h"
#include "job/flags.h"

namespace gangrun::job {

// Writes the flags over `draft`, which has at least one task afterwards, and notes their origins.
// An unknown task type or an index out of range is an error that names what exists.
base::Result<> merge_flags(const Flags& flags, JobDraft& draft);

}  // namespace gangrun::job
