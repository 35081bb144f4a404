#pragma once

#include "base/json.h"
#include "client/style.h"
#include "job/spec.h"
#include "jobfile/build.h"

// The source of each value of a plan.
namespace gangrun::client {

// [{"field": "yarn.queue", "from": "defaults", "file": "/etc/gangrun.yaml", "line": 3}, …] of all
// values of the job. `from` is built_in, defaults, job_file or flag; a flag is at "flag".
base::Json sources_json(const job::JobSpec& spec, const jobfile::Sources& sources);
// The defaults that this job has no use for, in the same form.
base::Json left_out_json(const jobfile::Sources& sources);

// "image (/etc/gangrun.yaml:3), on (…)": the defaults that count for the job. Empty: none does.
std::string defaults_in_use(const jobfile::Sources& sources);

// The sources for people, who see one line for all that is built in.
Lines sources_lines(const job::JobSpec& spec, const jobfile::Sources& sources);

}  // namespace gangrun::client
