#include "job/choice.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/units.h"

namespace gangrun::job {

namespace {

// What keys and values are called in other programs of this kind.
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
};

std::optional<std::string> meant_by(std::string_view text,
                                    const std::vector<std::string>& allowed) {
  for (const auto& [other, ours] : kOtherNames) {
    const bool is_here = std::find(allowed.begin(), allowed.end(), ours) != allowed.end();
    if (text == other && is_here) return std::string(ours);
  }
  return base::nearest(text, allowed);
}

}  // namespace

base::Error not_one_of(std::string_view text, std::string_view what,
                       const std::vector<std::string>& allowed) {
  const auto meant = meant_by(text, allowed);
  return base::invalid_argument(base::format(
      "{} is not {}{} allowed: {}", in_quotes(text), what,
      meant ? base::format("; did you mean '{}'?", *meant) : ";", base::join(allowed, ", ")));
}

}  // namespace gangrun::job
