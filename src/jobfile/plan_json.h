#pragma once

#include "base/json.h"
#include "base/result.h"
#include "job/plan_form.h"
#include "job/spec.h"
#include "jobfile/section.h"

namespace gangrun::jobfile {

// A complete job in the shape of a job file, with every default written out: what --dry-run shows,
// what lies in the job's folder, and a job file itself. Keys are in the order of the reference. For
// programs: what travels to masters and agents, and is read back without parsing a text of ours.
base::Json to_json(const job::JobSpec& spec, job::PlanForm form = job::PlanForm::kForPeople);

// The inverse; the result is valid. Shorter forms of a job file are read too. Of sections those in
// the list are read; a map under another key is carried as it is, for a program that knows it.
base::Result<job::JobSpec> job_spec_from_json(const base::Json& json,
                                              const SectionList& sections = {});

}  // namespace gangrun::jobfile
