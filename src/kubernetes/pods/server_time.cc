#include "kubernetes/pods/server_time.h"

#include <algorithm>

namespace gangrun::kubernetes::pods {

void ServerTime::heard(base::WallTime time, base::Instant now) {
  const base::Duration ahead = now.time_since_epoch() - time.time_since_epoch();
  ahead_ = ahead_ ? std::min(*ahead_, ahead) : ahead;
}

base::Instant ServerTime::instant_of(base::WallTime time, base::Instant now) const {
  if (!ahead_) return now;
  return std::min(now, base::Instant(time.time_since_epoch() + *ahead_));
}

}  // namespace gangrun::kubernetes::pods
