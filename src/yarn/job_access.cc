#include "yarn/job_access.h"

#include "jobfile/plan_json.h"
#include "yarn/yarn_options.h"

namespace gangrun::yarn {

base::Result<> YarnSpec::read(const base::Json& json, std::string_view key, job::JobSpec& out) {
  auto spec = jobfile::job_spec_from_json(json, {&YarnOptions::section()});
  if (!spec.ok()) return spec.error().context(key);
  out = *std::move(spec);
  return {};
}

}  // namespace gangrun::yarn
