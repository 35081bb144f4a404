#include "job/sections.h"

#include <algorithm>

#include "job/section.h"

namespace gangrun::job {

Sections::Sections(const Sections& other) : carried_(other.carried_) {
  for (const auto& [key, options] : other.held_) held_[key] = options->copy();
}

Sections& Sections::operator=(const Sections& other) {
  if (this != &other) *this = Sections(other);
  return *this;
}

const Options* Sections::find(const Section& section) const {
  GANGRUN_CHECK(!carried_.contains(section.key), section.key);
  const auto found = held_.find(section.key);
  return found == held_.end() ? nullptr : found->second.get();
}

Options& Sections::open(const Section& section) {
  GANGRUN_CHECK(!carried_.contains(section.key), section.key);
  std::unique_ptr<Options>& held = held_[std::string(section.key)];
  if (held == nullptr) held = section.make();
  return *held;
}

std::vector<const Section*> Sections::known() const {
  std::vector<const Section*> sections;
  for (const auto& [key, options] : held_) sections.push_back(&options->section());
  return sections;
}

std::map<std::string, base::Json> Sections::to_json(const JobSpec& job, PlanForm form) const {
  std::map<std::string, base::Json> sections(carried_.begin(), carried_.end());
  for (const auto& [key, options] : held_) {
    if (job.on != key && options->is_default()) continue;
    sections[key] = json_of_fields(options->section().fields, job, form);
  }
  return sections;
}

bool operator==(const Sections& a, const Sections& b) {
  if (a.carried_ != b.carried_) return false;
  const auto says_the_same = [](const Sections& one, const Sections& other) {
    return std::ranges::all_of(one.held_, [&other](const auto& entry) {
      const auto found = other.held_.find(entry.first);
      if (found == other.held_.end()) return entry.second->is_default();
      return entry.second->equals(*found->second);
    });
  };
  return says_the_same(a, b) && says_the_same(b, a);
}

}  // namespace gangrun::job
