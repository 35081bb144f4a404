#include "agents/held_failures.h"

#include <algorithm>
#include <utility>

namespace gangrun::agents {

void HeldFailures::hold(job::Exited failure) { held_.push_back({.failure = std::move(failure)}); }

void HeldFailures::look_begins() {
  is_looking_ = true;
  for (Held& held : held_) held.is_looked_for = true;
}

std::vector<job::Exited> HeldFailures::look_ended() {
  is_looking_ = false;
  std::vector<job::Exited> failures;
  std::vector<Held> later;
  for (Held& held : held_) {
    if (held.is_looked_for) {
      failures.push_back(std::move(held.failure));
    } else {
      later.push_back(std::move(held));
    }
  }
  held_ = std::move(later);
  return failures;
}

std::optional<job::Exited> HeldFailures::take(const job::TaskId& task) {
  const auto found = std::find_if(held_.begin(), held_.end(),
                                  [&](const Held& held) { return held.failure.task == task; });
  if (found == held_.end()) return std::nullopt;
  job::Exited failure = std::move(found->failure);
  held_.erase(found);
  return failure;
}

}  // namespace gangrun::agents
