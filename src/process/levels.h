#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace gangrun::process {

// How surely everything that a task starts ends with it; best first. What each covers, and what it
// does not, stands in containment.h.
enum class Level { kPidNamespace, kCgroup, kSubreaper };

inline constexpr std::array kLevels{Level::kPidNamespace, Level::kCgroup, Level::kSubreaper};

// "pid_namespace", "cgroup", "subreaper"
std::string_view to_string(Level level);
std::optional<Level> level_from_string(std::string_view name);

// Whether this host permits a level to this user, and if not, why, in words for `doctor`.
struct Ability {
  bool possible = false;
  std::string reason;  // empty where possible
};

struct Abilities {
  Ability pid_namespace;
  Ability cgroup;
  Ability subreaper;

  [[nodiscard]] const Ability& of(Level level) const;
};

// Tries each level for real, in children that end at once: a few milliseconds. Nothing is kept; the
// caller keeps the answer. May be called with other threads running.
Abilities probe_levels();

// The best level that is possible. kSubreaper where none is: it is the least that can be tried.
Level best(const Abilities& abilities);

}  // namespace gangrun::process
