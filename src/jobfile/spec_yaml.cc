#include "jobfile/spec_yaml.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/choice.h"
#include "job/units.h"
#include "jobfile/job_fields.h"
#include "jobfile/spec_field.h"
#include "jobfile/task_fields.h"
#include "jobfile/yaml_tree.h"

namespace gangrun::jobfile {

namespace {

// Types of tasks that have a meaning by their name, or that everybody has.
constexpr std::string_view kTypesByName[] = {"chief", "master",    "worker",
                                             "ps",    "evaluator", "tensorboard"};

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

base::Result<> read_section(const Field& field, const Section& section, job::JobSpec& spec) {
  spec.sections.open(section.key, section.make);
  return read_fields(field, section.fields, spec);
}

// A map of a job file, and its keys.
using KeysOf = std::pair<std::string, std::vector<std::string>>;

// All that have keys of their own, but for the job itself: {"tasks.TYPE", {"memory", …}}.
std::vector<KeysOf> maps_of(const SectionList& sections) {
  std::vector<KeysOf> maps{{"tasks.TYPE", keys_of(task_fields())},
                           {"timeouts", keys_of(timeouts_fields())}};
  for (const Section* section : sections) {
    maps.emplace_back(section->key, keys_of(section->fields));
  }
  return maps;
}

// The right paths of such a key, for whoever wrote it at the top: {"tasks.TYPE.memory"}.
std::vector<std::string> other_paths_of(const std::string& key, const std::vector<KeysOf>& maps) {
  std::vector<std::string> paths;
  for (const auto& [path, keys] : maps) {
    if (const auto ours = job::same_name(key, keys))
      paths.push_back(base::format("{}.{}", path, *ours));
  }
  if (paths.empty() && std::ranges::find(kTypesByName, key) != std::end(kTypesByName)) {
    paths.push_back(base::format("tasks.{}", key));
  }
  return paths;
}

base::Error misplaced(const Field& field, const YamlNode::Key& key, std::string_view where,
                      const std::vector<std::string>& paths) {
  return field.error_at(
      key.mark, base::format("{} is not a key {}; did you mean {}?", job::in_quotes(key.name),
                             where, base::join(paths, " or ")));
}

base::Result<> check_top_keys(const Field& field, const std::vector<std::string>& keys,
                              const std::vector<KeysOf>& maps) {
  for (const YamlNode::Key& key : field.node.keys) {
    // `read_keys` tells what is misspelled here.
    if (job::same_name(key.name, keys)) continue;
    const std::vector<std::string> paths = other_paths_of(key.name, maps);
    if (!paths.empty()) return misplaced(field, key, "of a job", paths);
  }
  return {};
}

// Keys in `map` that stand elsewhere: in another map, or at the top.
base::Result<> check_keys_of(const Field& map, const std::vector<std::string>& own,
                             const std::vector<std::string>& top, const std::vector<KeysOf>& maps) {
  for (const YamlNode::Key& key : map.node.keys) {
    if (job::same_name(key.name, own)) continue;
    std::vector<std::string> paths;
    for (const auto& [path, keys] : maps) {
      const bool has_it = std::ranges::find(keys, key.name) != keys.end();
      if (has_it) paths.push_back(base::format("{}.{}", path, key.name));
    }
    if (std::ranges::find(top, key.name) != top.end()) paths.push_back(key.name);
    if (!paths.empty()) return misplaced(map, key, "here", paths);
  }
  return {};
}

// Whether a key stands in the wrong map. What is unknown everywhere is for who reads the map.
base::Result<> check_places_of_keys(const Field& root, const std::vector<std::string>& top,
                                    const SectionList& sections) {
  const std::vector<KeysOf> maps = maps_of(sections);
  GANGRUN_TRY(check_top_keys(root, top, maps));
  for (std::size_t i = 0; i < root.node.keys.size(); ++i) {
    const std::string& name = root.node.keys[i].name;
    const Field child = root.child(i, name);
    if (name == "tasks") {
      for (std::size_t j = 0; j < child.node.keys.size(); ++j) {
        const Field task = child.child(j, child.node.keys[j].name);
        if (task.node.kind == YamlNode::Kind::kMap) {
          GANGRUN_TRY(check_keys_of(task, maps.front().second, top, maps));
        }
      }
      continue;
    }
    const auto own = std::ranges::find(maps, name, &KeysOf::first);
    if (own != maps.end()) GANGRUN_TRY(check_keys_of(child, own->second, top, maps));
  }
  return {};
}

base::Result<JobDraft> read_job(const YamlNode& root, const std::string& source,
                                const SectionList& sections, bool carries_others,
                                JobDraft draft = {}) {
  const Field field{root, "", source, draft.origins};
  if (root.kind == YamlNode::Kind::kNull) {
    return field.error("is empty; a job file has at least `tasks`");
  }
  const FieldRows<job::JobSpec> rows = job_fields();
  std::vector<std::string> keys = keys_of(rows);
  for (const Section* section : sections) keys.emplace_back(section->key);
  if (carries_others) {
    for (std::string& key : other_maps(root, keys)) keys.push_back(std::move(key));
  }
  GANGRUN_TRY(check_places_of_keys(field, keys, sections));
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
                                  const SectionList& sections, JobDraft draft) {
  GANGRUN_ASSIGN(const YamlNode root, parse_yaml(text, source_name));
  return read_job(root, source_name, sections, false, std::move(draft));
}

base::Result<JobDraft> draft_from_json(const base::Json& json, const SectionList& sections) {
  GANGRUN_ASSIGN(const YamlNode root, yaml_from_json(json));
  return read_job(root, "", sections, true);
}

}  // namespace gangrun::jobfile
