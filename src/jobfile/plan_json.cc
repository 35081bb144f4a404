#include "jobfile/plan_json.h"

#include <map>
#include <string>
#include <utility>

#include "jobfile/build.h"
#include "jobfile/job_fields.h"
#include "jobfile/spec_yaml.h"

namespace gangrun::jobfile {

base::Json to_json(const job::JobSpec& spec, job::PlanForm form) {
  base::Json json = json_of_fields(job_fields(), spec, form);
  // Each section that says something, or is of the place `on`.
  std::map<std::string, base::Json> sections(spec.sections.carried().begin(),
                                             spec.sections.carried().end());
  for (const auto& [key, options] : spec.sections.held()) {
    if (spec.on != key && options->is_default()) continue;
    sections[key] = json_of_fields(options->section().fields, spec, form);
  }
  for (auto& [key, section] : sections) json[key] = std::move(section);
  return json;
}

base::Result<job::JobSpec> job_spec_from_json(const base::Json& json, const SectionList& sections) {
  GANGRUN_ASSIGN(JobDraft draft, draft_from_json(json, sections));
  return build(std::move(draft), Flags{}, Defaults{});
}

}  // namespace gangrun::jobfile
