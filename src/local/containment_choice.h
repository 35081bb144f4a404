#pragma once

#include "base/result.h"
#include "job/spec.h"

namespace gangrun::local {

// The level that the job wants, or the best that this host permits: never kAuto. Tries them for
// real. kFailedPrecondition: the host does not permit the level that is wanted.
base::Result<job::Containment> choose_containment(job::Containment wanted);

}  // namespace gangrun::local
