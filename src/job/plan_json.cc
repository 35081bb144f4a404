#include "job/plan_json.h"

#include <utility>

#include "job/build.h"
#include "job/job_fields.h"
#include "job/spec_yaml.h"

namespace gangrun::job {

base::Json to_json(const JobSpec& spec, PlanForm form) {
  base::Json json = json_of_fields(job_fields(), spec, form);
  for (auto& [key, section] : spec.sections.to_json(spec, form)) json[key] = std::move(section);
  return json;
}

base::Result<JobSpec> job_spec_from_json(const base::Json& json, const SectionList& sections) {
  GANGRUN_ASSIGN(JobDraft draft, draft_from_json(json, sections));
  return build(std::move(draft), Flags{}, Defaults{});
}

}  // namespace gangrun::job
