#pragma once

#include <vector>

#include "job/spec.h"
#include "jobfile/field.h"
#include "jobfile/problem.h"

// The tables of a job's own fields.
namespace gangrun::jobfile {

// The keys of each map of a job file, in the order of the reference.
FieldRows<job::JobSpec> job_fields();
FieldRows<job::JobSpec> restarts_fields();
FieldRows<job::JobSpec> timeouts_fields();
FieldRows<job::ZooKeeper> zookeeper_fields();

using JobField = FieldAt<job::JobSpec>;

// All that is a number, a text or a choice, with the path within the job: "timeouts.stop". Those of
// sections: RulesOfPlaces::job_fields().
const std::vector<JobField>& plain_job_fields();

// Ranges and texts: what one row says of a spec and its sections, whoever made it.
Found check_job_fields(const job::JobSpec& job);

}  // namespace gangrun::jobfile
