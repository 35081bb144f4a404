#include "jobfile/default_files.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/units.h"
#include "jobfile/job_fields.h"
#include "jobfile/place_rules.h"
#include "jobfile/section.h"
#include "jobfile/spec_field.h"
#include "jobfile/yaml_tree.h"

namespace gangrun::jobfile {

namespace {

using base::Result;

struct Layer {
  const std::string& path;
  YamlNode root;
};

// All keys of a job file that are no section.
std::vector<std::string> keys_without_sections() {
  std::vector<std::string> keys;
  for (const FieldRow<job::JobSpec>& row : job_fields()) {
    if (row.info.no_default.empty()) keys.emplace_back(row.info.key);
  }
  return keys;
}

Result<> check_key(const Field& root, const YamlNode::Key& key,
                   const std::vector<std::string>& allowed) {
  const FieldRow<job::JobSpec>* row = find_row(job_fields(), key.name);
  if (row == nullptr || row->info.no_default.empty()) return {};
  return root.error_at(key.mark, base::format("{} is not allowed in a file of defaults: {}; "
                                              "allowed: {}",
                                              job::in_quotes(key.name), row->info.no_default,
                                              base::join(allowed, ", ")));
}

// The path of a file, as a row of `owner` has it. A default counts in every folder.
template <typename Owner>
Result<> check_path(const FieldRow<Owner>& row, const std::string& path, const Owner& owner,
                    const JobDraft& draft) {
  if (!row.info.is_path || !draft.is_given(path)) return {};
  const std::string value = text_of(row.info, row.get(owner));
  if (value.empty() || value.starts_with('/')) return {};
  return base::invalid_argument(
      base::format("{}{}: {} is not allowed in a file of defaults, which counts in all folders; "
                   "allowed: an absolute path",
                   draft.origins.at(path), path, job::in_quotes(value)));
}

Result<> check_paths(const RulesOfPlaces& places, const JobDraft& draft) {
  for (const JobField& field : places.job_fields()) {
    GANGRUN_TRY(check_path(*field.row, field.path, draft.spec, draft));
  }
  if (!draft.spec.zookeeper) return {};
  for (const FieldRow<job::ZooKeeper>& row : zookeeper_fields()) {
    const std::string path = base::format("zookeeper.{}", row.info.key);
    GANGRUN_TRY(check_path(row, path, *draft.spec.zookeeper, draft));
  }
  return {};
}

Result<> read_layer(const Layer& layer, const RulesOfPlaces& places, JobDraft& draft) {
  const Field root{layer.root, "", layer.path, draft.origins};
  const std::vector<std::string> plain = keys_without_sections();
  const std::vector<std::string> keys = default_keys(places);
  for (const YamlNode::Key& key : layer.root.keys) GANGRUN_TRY(check_key(root, key, keys));
  GANGRUN_TRY(read_keys(root, keys, [&](std::size_t i, const Field& child) -> Result<> {
    if (i < plain.size()) return read_row(child, *find_row(job_fields(), plain[i]), draft.spec);
    const Section& section = *places.sections()[i - plain.size()];
    draft.spec.sections.open(section.key, section.make);
    return read_fields(child, section.fields, draft.spec);
  }));
  return check_paths(places, draft);
}

Result<std::vector<Layer>> parse_layers(const std::vector<DefaultFile>& files) {
  std::vector<Layer> layers;
  for (const DefaultFile& file : files) {
    GANGRUN_ASSIGN(YamlNode root, parse_yaml(file.text, file.path));
    layers.push_back({file.path, std::move(root)});
  }
  return layers;
}

Result<JobDraft> read_layers(const std::vector<Layer>& layers, const RulesOfPlaces& places) {
  JobDraft draft;
  for (const Layer& layer : layers) GANGRUN_TRY(read_layer(layer, places, draft));
  draft.defaults = draft.origins;
  return draft;
}

// Takes the value at a path out of the tree; false: it has none.
bool take_out(YamlNode& node, std::string_view path) {
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string& key = node.keys[i].name;
    if (!path.starts_with(key)) continue;
    if (path.size() == key.size()) {
      node.keys.erase(node.keys.begin() + static_cast<std::ptrdiff_t>(i));
      node.children.erase(node.children.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    if (path[key.size()] == '.' && take_out(node.children[i], path.substr(key.size() + 1))) {
      return true;
    }
  }
  return false;
}

// Takes defaults out that this job has no use for.
class Leaving {
 public:
  explicit Leaving(std::vector<Layer>& layers) : layers_(layers) {}

  // `defaults`: the draft of what there still is. False: no default stands at the path or above it.
  bool leave(std::string path, const JobDraft& defaults) {
    while (true) {
      bool is_out = false;
      for (Layer& layer : layers_) is_out |= take_out(layer.root, path);
      if (is_out) {
        const auto given = defaults.origins.find(path);
        left_[path] = given == defaults.origins.end() ? "" : given->second;
        return true;
      }
      // `restarts: 3` is `restarts.max`.
      const std::size_t dot = path.rfind('.');
      if (dot == std::string::npos) return false;
      path.resize(dot);
    }
  }
  [[nodiscard]] const std::map<std::string, std::string>& left() const { return left_; }

 private:
  std::vector<Layer>& layers_;
  std::map<std::string, std::string> left_;
};

// The first path of a valid job that its place has no use for; empty: there is none.
std::string without_use_of(const job::JobSpec& spec, const PlaceRules* own,
                           const JobDraft& defaults, const std::vector<std::string>& without_use) {
  const bool needs_hosts = spec.zookeeper && spec.zookeeper->hosts.empty();
  if (needs_hosts && own != nullptr && !own->gives_zookeeper_hosts) return "zookeeper";
  const auto found = std::ranges::find_if(without_use, [&](const std::string& path) {
    return defaults.is_given(path.substr(0, path.find('.')));
  });
  return found == without_use.end() ? "" : *found;
}

// The place where the job will run: a flag says it, else the job file, else a default.
Result<std::string> place_of(const Flags& flags, const OverDefaults& job_file,
                             const JobDraft& defaults) {
  const auto given = flags.job_fields.find("on");
  if (given != flags.job_fields.end() && given->second) return *given->second;
  GANGRUN_ASSIGN(const JobDraft alone, job_file(JobDraft{}));
  return alone.is_given("on") ? alone.spec.on : defaults.spec.on;
}

}  // namespace

std::vector<std::string> default_keys(const RulesOfPlaces& places) {
  std::vector<std::string> keys = keys_without_sections();
  for (const Section* section : places.sections()) keys.emplace_back(section->key);
  return keys;
}

Result<std::string> default_place(const std::vector<DefaultFile>& files,
                                  const RulesOfPlaces& places) {
  GANGRUN_ASSIGN(const std::vector<Layer> layers, parse_layers(files));
  GANGRUN_ASSIGN(const JobDraft draft, read_layers(layers, places));
  if (const PlaceRules* place = places.find(draft.spec.on)) return place->name;
  return base::invalid_argument(
      base::format("{}on: {}", draft.is_given("on") ? draft.origins.at("on") : std::string(),
                   job::not_one_of(draft.spec.on, "a place", places.names()).message));
}

Result<job::JobSpec> build_over(const std::vector<DefaultFile>& files, const OverDefaults& job_file,
                                const Flags& flags, const Defaults& facts) {
  static const RulesOfPlaces kNone;
  const RulesOfPlaces& places = facts.places == nullptr ? kNone : *facts.places;
  GANGRUN_ASSIGN(std::vector<Layer> layers, parse_layers(files));
  Leaving leaving(layers);
  GANGRUN_ASSIGN(JobDraft defaults, read_layers(layers, places));
  GANGRUN_ASSIGN(const std::string on, place_of(flags, job_file, defaults));
  const PlaceRules* own = places.find(on);
  for (const Section* section : places.sections()) {
    if (own == nullptr || own->section != section) {
      leaving.leave(std::string(section->key), defaults);
    }
  }
  // Each round has fewer defaults.
  while (true) {
    GANGRUN_ASSIGN(defaults, read_layers(layers, places));
    GANGRUN_ASSIGN(const JobDraft draft, job_file(defaults));
    std::string refused;
    std::vector<std::string> without_use;
    Defaults own_facts = facts;
    own_facts.refused_here = &refused;
    own_facts.without_use = &without_use;
    auto spec = build(draft, flags, own_facts);
    if (spec.ok()) refused = without_use_of(*spec, own, defaults, without_use);
    if (!refused.empty() && leaving.leave(refused, defaults)) continue;
    if (facts.without_use != nullptr) *facts.without_use = std::move(without_use);
    if (facts.sources != nullptr) facts.sources->left_out = leaving.left();
    return spec;
  }
}

}  // namespace gangrun::jobfile
