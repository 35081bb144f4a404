#include "local/containment_choice.h"

#include "base/format.h"
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
  switch (choice.level) {
    case process::Level::kPidNamespace: return job::Containment::kPidNamespace;
    case process::Level::kCgroup: return job::Containment::kCgroup;
    case process::Level::kSubreaper: break;
  }
  return job::Containment::kSubreaper;
}

}  // namespace gangrun::local
