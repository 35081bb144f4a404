#include "jobfile/described_job.h"

#include <utility>

#include "jobfile/plan_json.h"

namespace gangrun::base {

Json JsonOf<job::JobSpec>::write(const job::JobSpec& spec) {
  return jobfile::to_json(spec, job::PlanForm::kForPrograms);
}
Result<> JsonOf<job::JobSpec>::read(const Json& json, std::string_view key, job::JobSpec& out) {
  auto spec = jobfile::job_spec_from_json(json);
  if (!spec.ok()) return spec.error().context(key);
  out = *std::move(spec);
  return {};
}
job::JobSpec JsonOf<job::JobSpec>::sample() {
  return jobfile::job_spec_from_json({{"command", {"true"}}, {"tasks", {{"worker", 1}}}})
      .value_or(job::JobSpec());
}

}  // namespace gangrun::base
