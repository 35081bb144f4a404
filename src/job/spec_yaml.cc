#include "job/spec_yaml.h"

#include "job/job_fields.h"
#include "job/spec_field.h"
#include "job/yaml_tree.h"

namespace gangrun::job {

namespace {

base::Result<JobDraft> read_job(const YamlNode& root, const std::string& source) {
  JobDraft draft;
  const Field field{root, "", source, draft.origins};
  if (root.kind == YamlNode::Kind::kNull) {
    return field.error("is empty; a job file has at least `tasks`");
  }
  GANGRUN_TRY(read_fields(field, job_fields(), draft.spec));
  if (draft.spec.tasks.empty()) {
    return field.error("`tasks` is missing; a job needs at least one task");
  }
  return draft;
}

}  // namespace

base::Result<JobDraft> parse_spec(std::string_view text, const std::string& source_name) {
  GANGRUN_ASSIGN(const YamlNode root, parse_yaml(text, source_name));
  return read_job(root, source_name);
}

base::Result<JobDraft> draft_from_json(const base::Json& json) {
  GANGRUN_ASSIGN(const YamlNode root, yaml_from_json(json));
  return read_job(root, "");
}

}  // namespace gangrun::job
