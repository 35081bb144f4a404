#include "job/spec_yaml.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/choice.h"
#include "job/job_fields.h"
#include "job/spec_field.h"
#include "job/task_fields.h"
#include "job/units.h"
#include "job/yaml_tree.h"
#include "job/yaml_value.h"

namespace gangrun::job {

namespace {

// The keys of maps that are not among `known`.
std::vector<std::string> other_maps(const YamlNode& root, const std::vector<std::string>& known) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < root.keys.size(); ++i) {
    const std::string& key = root.keys[i].name;
    if (root.children[i].kind != YamlNode::Kind::kMap) continue;
    if (std::ranges::find(known, key) == known.end()) keys.push_back(key);
  }
  return keys;
}

base::Result<> read_section(const Field& field, const Section& section, JobSpec& spec) {
  spec.sections.open(section);
  return read_fields(field, section.fields, spec);
}

// Where a file has such a key, for whoever wrote it at the top: {"tasks.TYPE.memory"}.
std::vector<std::string> other_paths_of(std::string_view key, const SectionList& sections) {
  std::vector<std::pair<std::string, std::vector<std::string>>> maps{
      {"tasks.TYPE", keys_of(task_fields())}, {"timeouts", keys_of(timeouts_fields())}};
  for (const Section* section : sections) {
    maps.emplace_back(section->key, keys_of(section->fields));
  }
  std::vector<std::string> paths;
  for (const auto& [path, keys] : maps) {
    if (const auto ours = same_name(key, keys)) paths.push_back(base::format("{}.{}", path, *ours));
  }
  return paths;
}

base::Result<> check_top_keys(const Field& field, const std::vector<std::string>& keys,
                              const SectionList& sections) {
  for (const YamlNode::Key& key : field.node.keys) {
    // What is misspelled here is told by `read_keys`.
    if (same_name(key.name, keys)) continue;
    const std::vector<std::string> paths = other_paths_of(key.name, sections);
    if (paths.empty()) continue;
    return field.error_at(key.mark, base::format("{} is not a key of a job; did you mean {}?",
                                                 in_quotes(key.name), base::join(paths, " or ")));
  }
  return {};
}

base::Result<JobDraft> read_job(const YamlNode& root, const std::string& source,
                                const SectionList& sections, bool carries_others) {
  JobDraft draft;
  const Field field{root, "", source, draft.origins};
  if (root.kind == YamlNode::Kind::kNull) {
    return field.error("is empty; a job file has at least `tasks`");
  }
  const FieldRows<JobSpec> rows = job_fields();
  std::vector<std::string> keys = keys_of(rows);
  for (const Section* section : sections) keys.emplace_back(section->key);
  if (carries_others) {
    for (std::string& key : other_maps(root, keys)) keys.push_back(std::move(key));
  }
  GANGRUN_TRY(check_top_keys(field, keys, sections));
  GANGRUN_TRY(read_keys(field, keys, [&](std::size_t i, const Field& child) -> base::Result<> {
    if (i < rows.size()) return read_row(child, rows[i], draft.spec);
    if (const std::size_t at = i - rows.size(); at < sections.size()) {
      return read_section(child, *sections[at], draft.spec);
    }
    draft.spec.sections.carry(keys[i], json_value(child.node));
    return {};
  }));
  if (draft.spec.tasks.empty()) {
    return field.error("`tasks` is missing; a job needs at least one task");
  }
  return draft;
}

}  // namespace

base::Result<JobDraft> parse_spec(std::string_view text, const std::string& source_name,
                                  const SectionList& sections) {
  GANGRUN_ASSIGN(const YamlNode root, parse_yaml(text, source_name));
  return read_job(root, source_name, sections, false);
}

base::Result<JobDraft> draft_from_json(const base::Json& json, const SectionList& sections) {
  GANGRUN_ASSIGN(const YamlNode root, yaml_from_json(json));
  return read_job(root, "", sections, true);
}

}  // namespace gangrun::job
