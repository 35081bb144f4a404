#include "job/choice.h"

#include "base/format.h"
#include "base/strings.h"
#include "job/units.h"

namespace gangrun::job {

base::Error not_one_of(std::string_view text, std::string_view what,
                       const std::vector<std::string>& allowed) {
  const auto meant = base::nearest(text, allowed);
  return base::invalid_argument(base::format(
      "{} is not {}{} allowed: {}", in_quotes(text), what,
      meant ? base::format("; did you mean '{}'?", *meant) : ";", base::join(allowed, ", ")));
}

}  // namespace gangrun::job
