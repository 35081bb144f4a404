#include "yarn/job_access.h"

#include "jobfile/plan_json.h"
#include "yarn/yarn_options.h"

namespace gangrun::yarn {

base::Result<> YarnSpec::read(const base::Json& json, std::string_view key, job::JobSpec& out) {
  GANGRUN_ASSIGN(out, jobfile::job_spec_from_json(json, {&YarnOptions::section()}).context(key));
  return {};
}

}  // namespace gangrun::yarn
