#include "cluster/yarn/job_access.h"

#include "cluster/yarn/yarn_options.h"
#include "job/plan_json.h"

namespace gangrun::cluster {

base::Json YarnSpec::write(const job::JobSpec& spec) {
  return job::to_json(spec, job::PlanForm::kForPrograms);
}

base::Result<> YarnSpec::read(const base::Json& json, std::string_view key, job::JobSpec& out) {
  auto spec = job::job_spec_from_json(json, {&YarnOptions::section()});
  if (!spec.ok()) return spec.error().context(key);
  out = *std::move(spec);
  return {};
}

}  // namespace gangrun::cluster
