#include "jobfile/place_rules.h"

#include <algorithm>

#include "base/format.h"
#include "base/strings.h"
#include "job/choice.h"
#include "job/units.h"
#include "jobfile/plan_json.h"

namespace gangrun::jobfile {

namespace {

constexpr Feature kFeatures[] = {
    Feature::kRestarts, Feature::kFiles,      Feature::kClusterFiles,   Feature::kArchives,
    Feature::kImages,   Feature::kGpus,       Feature::kOtherResources, Feature::kPods,
    Feature::kLabels,   Feature::kOnePerNode, Feature::kSpares,         Feature::kSmallerGangs,
    Feature::kHosts,    Feature::kOutputs,    Feature::kKeptFolders};

bool has_one(const std::vector<Feature>& features, Feature feature) {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

// Checks the texts about tasks in images that an engine gets.
Found check_text_for_images(const job::JobSpec& job) {
  const auto has_image = [&](const job::TaskSpec& task) { return !job.image_of(task).empty(); };
  if (std::none_of(job.tasks.begin(), job.tasks.end(), has_image)) return std::nullopt;
  const base::Json json = to_json(job);
  const auto look_at = [](const base::Json& part, const std::string& path) -> Found {
    for (const char* key : {"command", "env", "mounts"}) {
      const auto value = part.find(key);
      if (value == part.end()) continue;
      const std::string own_path = path.empty() ? key : base::format("{}.{}", path, key);
      if (auto found = find_no_text(*value, own_path, "and engines of images take nothing else")) {
        return found;
      }
    }
    return std::nullopt;
  };
  if (auto found = look_at(json, "")) return found;
  for (const job::TaskSpec& task : job.tasks) {
    if (!has_image(task)) continue;
    if (auto found = look_at(json["tasks"][task.type], "tasks." + task.type)) return found;
  }
  return std::nullopt;
}

// As first_given(), of what a section has. The parts come first: they say more than the whole.
std::pair<std::string, std::string> first_in_section(const Section& section,
                                                     const job::JobSpec& job) {
  for (const SectionPart& part : section.parts) {
    auto [key, value] = first_given(part.fields, job);
    if (!key.empty()) return {std::string(part.prefix) + key, std::move(value)};
  }
  return first_given(section.fields, job);
}

}  // namespace

std::string refused_text(std::string_view value, std::string_view place, std::string_view other) {
  return base::format("{} is not allowed with `on: {}`; allowed with `on: {}`",
                      job::in_quotes(value), place, other);
}

Found find_no_text(const base::Json& part, const std::string& path, std::string_view why) {
  if (part.is_string() && !base::is_valid_utf8(part.get_ref<const std::string&>())) {
    return Problem{
        path, base::format("{} is not UTF-8, {}", job::in_quotes(part.get<std::string>()), why)};
  }
  if (!part.is_structured()) return std::nullopt;
  for (const auto& [key, value] : part.items()) {
    const std::string own_path = path.empty() ? key : base::format("{}.{}", path, key);
    if (!base::is_valid_utf8(key))
      return Problem{path, base::format("a key is not UTF-8, {}", why)};
    if (auto found = find_no_text(value, own_path, why)) return found;
  }
  return std::nullopt;
}

RulesOfPlaces::RulesOfPlaces(std::vector<PlaceRules> places)
    : places_(std::move(places)), job_fields_(plain_job_fields()) {
  for (const PlaceRules& place : places_) {
    if (place.section == nullptr) continue;
    sections_.push_back(place.section);
    add_section_fields(*place.section, job_fields_);
  }
}

std::vector<std::string> RulesOfPlaces::names() const {
  std::vector<std::string> names;
  for (const PlaceRules& place : places_) names.push_back(place.name);
  return names;
}

std::string RulesOfPlaces::words(std::string PlaceRules::*which) const {
  std::string text;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const bool is_last = i + 1 == places_.size();
    if (i > 0) text += is_last ? ", or " : ", ";
    text += places_[i].*which;
  }
  return text;
}

bool RulesOfPlaces::are_tasks_beside_master(const job::JobSpec& job) const {
  const PlaceRules* place = find(job.on);
  return place != nullptr && place->is_beside_master && job.hosts.empty();
}

const PlaceRules* RulesOfPlaces::find(std::string_view name) const {
  const auto found = std::find_if(places_.begin(), places_.end(), [&](const PlaceRules& place) {
    return place.name == name || (!place.other_name.empty() && place.other_name == name);
  });
  return found == places_.end() ? nullptr : &*found;
}

const PlaceRules* RulesOfPlaces::with_queue(const job::JobSpec& job) const {
  const PlaceRules* own = find(job.on);
  if (own != nullptr && own->queue != nullptr) return own;
  const auto found = std::find_if(places_.begin(), places_.end(),
                                  [](const PlaceRules& place) { return place.queue != nullptr; });
  return found == places_.end() ? nullptr : &*found;
}

const PlaceRules* RulesOfPlaces::first_with(Feature feature) const {
  const auto found = std::find_if(places_.begin(), places_.end(), [&](const PlaceRules& place) {
    return has_one(place.features, feature);
  });
  return found == places_.end() ? nullptr : &*found;
}

std::string RulesOfPlaces::refused(std::string_view value, const PlaceRules& place,
                                   Feature feature) const {
  const PlaceRules* other = first_with(feature);
  return refused_text(value, place.name, other == nullptr ? "" : other->name);
}

Found RulesOfPlaces::check_features(const job::JobSpec& job, const PlaceRules& place) const {
  for (const Feature feature : kFeatures) {
    if (has_one(place.features, feature) || has_one(place.passed_over, feature) ||
        has_one(place.without_use, feature)) {
      continue;
    }
    const auto asked = find_asked(job, feature);
    if (!asked) continue;
    if (const auto why = place.refusals.find(feature); why != place.refusals.end()) {
      return Problem{asked->path,
                     base::format("{} is not allowed with `on: {}`; {}",
                                  job::in_quotes(asked->value), place.name, why->second)};
    }
    return Problem{asked->path, refused(asked->value, place, feature)};
  }
  return std::nullopt;
}

std::vector<std::string> RulesOfPlaces::without_use(const job::JobSpec& job) const {
  const PlaceRules* place = find(job.on);
  if (place == nullptr || place->section != nullptr) return {};
  std::vector<std::string> paths;
  for (const PlaceRules& other : places_) {
    const bool is_other = &other != place && other.section != nullptr;
    if (is_other && !first_in_section(*other.section, job).first.empty()) {
      paths.push_back(other.name);
    }
  }
  for (const Feature feature : place->without_use) {
    if (const auto asked = find_asked(job, feature)) paths.push_back(asked->path);
  }
  return paths;
}

Found RulesOfPlaces::check_options(const job::JobSpec& job) const {
  for (const PlaceRules& place : places_) {
    if (place.check_options == nullptr) continue;
    if (auto found = place.check_options(job)) return found;
  }
  return std::nullopt;
}

Found RulesOfPlaces::check(const job::JobSpec& job) const {
  if (auto found = check_options(job)) return found;
  const PlaceRules* place = find(job.on);
  if (place == nullptr) return Problem{"on", job::not_one_of(job.on, "a place", names()).message};
  if (auto found = check_features(job, *place)) return found;
  if (place->check != nullptr) {
    if (auto found = place->check(job)) return found;
  }
  return check_text_for_images(job);
}

}  // namespace gangrun::jobfile
