#pragma once

#include "base/clock.h"

namespace gangrun::kubernetes::pods {

// The pause before a port of a pod is tried again, where the tries began so long ago: `quick` at
// first, as the container begins to listen at any moment; seldom where that takes long.
constexpr base::Duration try_pause(base::Duration quick, base::Duration since_first) {
  constexpr base::Duration kQuickTime = base::seconds(10);
  constexpr base::Duration kSeldom = base::milliseconds(500);
  return since_first < kQuickTime ? quick : kSeldom;
}

}  // namespace gangrun::kubernetes::pods
