#include "local/containment_choice.h"

#include "base/format.h"
#include "job/choice.h"
#include "process/levels.h"

namespace gangrun::local {

base::Result<job::Containment> choose_containment(job::Containment wanted) {
  // "auto" is the name of no level.
  const auto choice = process::choose_level(process::level_from_string(job::to_string(wanted)));
  if (!choice.ability.possible) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("containment {} is not possible on this host: {}",
                                    process::to_string(choice.level), choice.ability.reason)};
  }
  return job::choice_from<job::Containment>(process::to_string(choice.level));
}

}  // namespace gangrun::local
