#pragma once

#include <string>
#include <vector>

#include "job/field.h"
#include "job/problem.h"
#include "job/spec.h"

// The tables of a job's own fields.
namespace gangrun::job {

// The keys of each map of a job file, in the order of the reference.
FieldRows<JobSpec> job_fields();
FieldRows<JobSpec> restarts_fields();
FieldRows<JobSpec> timeouts_fields();
FieldRows<ZooKeeper> zookeeper_fields();

using JobField = FieldAt<JobSpec>;

// All that is a number, a text or a choice, with the path within the job: "timeouts.stop". Those of
// sections: Places::job_fields().
const std::vector<JobField>& plain_job_fields();

// Ranges and texts: what one row says of a spec and its sections, whoever made it.
Found check_job_fields(const JobSpec& job);

}  // namespace gangrun::job
