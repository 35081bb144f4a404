#include "job/plan_json.h"

#include "job/build.h"
#include "job/job_fields.h"
#include "job/spec_yaml.h"

namespace gangrun::job {

base::Json to_json(const JobSpec& spec, PlanForm form) {
  return json_of_fields(job_fields(), spec, form);
}

base::Result<JobSpec> job_spec_from_json(const base::Json& json) {
  GANGRUN_ASSIGN(JobDraft draft, draft_from_json(json));
  return build(std::move(draft), Flags{}, Defaults{});
}

}  // namespace gangrun::job
