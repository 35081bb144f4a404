#include "job/sections.h"

#include <algorithm>

namespace gangrun::job {

Sections::Sections(const Sections& other) : carried_(other.carried_) {
  for (const auto& [key, options] : other.held_) held_[key] = options->copy();
}

Sections& Sections::operator=(const Sections& other) {
  if (this != &other) *this = Sections(other);
  return *this;
}

const Options* Sections::find(std::string_view key) const {
  GANGRUN_CHECK(!carried_.contains(key), key);
  const auto found = held_.find(key);
  return found == held_.end() ? nullptr : found->second.get();
}

Options& Sections::open(std::string_view key, std::unique_ptr<Options> (*make)()) {
  GANGRUN_CHECK(!carried_.contains(key), key);
  std::unique_ptr<Options>& held = held_[std::string(key)];
  if (held == nullptr) held = make();
  return *held;
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
