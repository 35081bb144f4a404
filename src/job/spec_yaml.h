#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "job/draft.h"

namespace gangrun::job {

// A job file (docs/job.md) as a draft. `source_name` is what errors call the text: each is one line
// "job.yaml:4:12: tasks.worker.memory: '2 GBB' is not …; allowed: …". What concerns several fields
// at once is left to build().
base::Result<JobDraft> parse_spec(std::string_view text, const std::string& source_name);

// The same of a JSON value in the same shape.
base::Result<JobDraft> draft_from_json(const base::Json& json);

// The keys that each map of a job file may have: what the JSON Schema and the reference are
// compared with.
std::vector<std::string> job_keys();
std::vector<std::string> task_keys();
std::vector<std::string> ports_keys();
std::vector<std::string> override_keys();
std::vector<std::string> restarts_keys();
std::vector<std::string> timeouts_keys();
std::vector<std::string> zookeeper_keys();
std::vector<std::string> yarn_keys();
std::vector<std::string> yarn_master_keys();

}  // namespace gangrun::job
