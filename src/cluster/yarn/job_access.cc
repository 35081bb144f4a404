#include "cluster/yarn/job_access.h"

#include "cluster/yarn/yarn_options.h"
#include "job/plan_json.h"

namespace gangrun::cluster {

base::Json to_json(const JobAccess& access) {
  return {{"secret", access.secret.reveal()},
          {"fingerprint", access.fingerprint},
          {"spec", job::to_json(access.spec, job::PlanForm::kForPrograms)}};
}

base::Result<JobAccess> job_access_from_json(const base::Json& json) {
  JobAccess access;
  GANGRUN_ASSIGN(std::string secret, base::json_member<std::string>(json, "secret"));
  access.secret = base::Secret(std::move(secret));
  GANGRUN_ASSIGN(access.fingerprint, base::json_member<std::string>(json, "fingerprint"));
  const auto spec = json.find("spec");
  if (spec == json.end()) return base::invalid_argument("\"spec\" is missing");
  GANGRUN_ASSIGN(access.spec, job::job_spec_from_json(*spec, {&YarnOptions::section()}));
  return access;
}

}  // namespace gangrun::cluster
