#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "jobfile/draft.h"
#include "jobfile/section.h"

namespace gangrun::jobfile {

// A job file (docs/job.md) as a draft, with sections for these places. `source_name` is what errors
// call the text: each is one line "job.yaml:4:12: tasks.worker.memory: '2 GBB' is not …; allowed:
// …". What concerns several fields at once is left to build(). What `draft` has stays where the
// text says nothing else: maps are merged by their keys.
base::Result<JobDraft> parse_spec(std::string_view text, const std::string& source_name,
                                  const SectionList& sections = {}, JobDraft draft = {});

// The same of a JSON value in the same shape. A map under a key that is not known is carried: it is
// the section of a place that this program does not know.
base::Result<JobDraft> draft_from_json(const base::Json& json, const SectionList& sections = {});

}  // namespace gangrun::jobfile
