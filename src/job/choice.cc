#include "job/choice.h"

#include <algorithm>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/units.h"

namespace gangrun::job {

namespace {

// The names of keys, values and actions in other programs of this kind.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"torch", "pytorch"},
    {"tf", "tensorflow"},
    {"keras", "tensorflow"},
    {"cpu", "vcores"},
    {"cpus", "vcores"},
    {"cores", "vcores"},
    {"mem", "memory"},
    {"ram", "memory"},
    {"replicas", "instances"},
    {"count", "instances"},
    {"size", "instances"},
    {"workers", "instances"},
    {"num_workers", "instances"},
    {"nnodes", "instances"},
    {"roles", "tasks"},
    {"services", "tasks"},
    {"groups", "tasks"},
    {"cmd", "command"},
    {"args", "command"},
    {"script", "command"},
    {"entrypoint", "command"},
    {"environment", "env"},
    {"variables", "env"},
    {"retries", "restarts"},
    {"max_restarts", "restarts"},
    {"container", "image"},
    {"volumes", "mounts"},
    {"nodes", "hosts"},
    {"backend", "on"},
    {"set", "put"},
    {"write", "put"},
    {"read", "get"},
    {"remove", "delete"},
    {"rm", "delete"},
    {"ls", "list"},
    {"keys", "list"},
};

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::optional<std::string> same_name(std::string_view text,
                                     const std::vector<std::string>& allowed) {
  const std::string name = base::in_small_letters(text);
  if (contains(allowed, name)) return name;
  for (const auto& [other, ours] : kOtherNames) {
    if (name == other && contains(allowed, ours)) return std::string(ours);
  }
  return std::nullopt;
}

base::Error not_one_of(std::string_view text, std::string_view what,
                       const std::vector<std::string>& allowed) {
  const auto same = same_name(text, allowed);
  const auto meant = same ? same : base::nearest(text, allowed);
  return base::invalid_argument(base::format(
      "{} is not {}{} allowed: {}", in_quotes(text), what,
      meant ? base::format("; did you mean '{}'?", *meant) : ";", base::join(allowed, ", ")));
}

}  // namespace gangrun::job
