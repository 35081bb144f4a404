#pragma once

#include "base/result.h"
#include "jobfile/draft.h"
#include "jobfile/flags.h"
#include "jobfile/place_rules.h"

namespace gangrun::jobfile {

// Writes the flags over `draft`, which has at least one task afterwards, and notes their origins.
// A place gets the one name that it has here. An unknown task type or an index out of range is an
// error that names what exists.
base::Result<> merge_flags(const Flags& flags, const RulesOfPlaces& places, JobDraft& draft);

}  // namespace gangrun::jobfile
