#include "jobfile/described_job.h"

#include "jobfile/plan_json.h"

namespace gangrun::base {

Json JsonOf<job::JobSpec>::write(const job::JobSpec& spec) {
  return jobfile::to_json(spec, job::PlanForm::kForPrograms);
}
Result<> JsonOf<job::JobSpec>::read(const Json& json, std::string_view key, job::JobSpec& out) {
  GANGRUN_ASSIGN(out, jobfile::job_spec_from_json(json).context(key));
  return {};
}
job::JobSpec JsonOf<job::JobSpec>::sample() {
  return jobfile::job_spec_from_json({{"command", {"true"}}, {"tasks", {{"worker", 1}}}})
      .value_or(job::JobSpec());
}

}  // namespace gangrun::base
