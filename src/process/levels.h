#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gangrun::process {

// The guarantee that everything that a task starts ends with it; best first. What each covers, and
// what it does not, stands in containment.h.
enum class Level { kPidNamespace, kCgroup, kSubreaper };

inline constexpr std::array kLevels{Level::kPidNamespace, Level::kCgroup, Level::kSubreaper};

// "pid_namespace", "cgroup", "subreaper"
std::string_view to_string(Level level);
std::optional<Level> level_from_string(std::string_view name);

// Whether this host permits a level to this user, and if not, why, in words for `doctor`.
struct Ability {
  bool possible = false;
  std::string reason{};  // empty where possible
  // Possible, but only in a user namespace, which programs notice: setuid programs do not rise, and
  // other users' files are nobody's. Chosen only by name.
  bool needs_user_namespace = false;
};

// Tries a level for real, in a child that ends at once: some milliseconds, most of them where the
// level is kCgroup. That one also clears away the groups that are abandoned. Nothing is kept; the
// caller keeps the answer. May be called with other threads running.
Ability probe_level(Level level);

struct LevelChoice {
  Level level = Level::kSubreaper;
  Ability ability;
};

// The wanted level, or else the best that is possible without a user namespace, for which no lesser
// one is tried. kSubreaper where none is: it is the least that can be tried.
LevelChoice choose_level(std::optional<Level> wanted,
                         const std::function<Ability(Level)>& probe = probe_level);

// The differences that programs see from a run without gangrun, for people: at every level, and at
// one, where
// "" is nothing more. The reasons are in docs/job.md.
inline constexpr std::string_view kNoticedAtAnyLevel =
    "there is no terminal, standard input is empty, no signal is ignored or blocked, no other "
    "descriptor of the caller is open, orphans are children of gangrun's agent";
std::string_view what_programs_notice(Level level, bool has_user_namespace);

}  // namespace gangrun::process
