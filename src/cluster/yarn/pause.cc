#include "cluster/yarn/pause.h"

#include <poll.h>

namespace gangrun::cluster {

void pause_for(std::chrono::milliseconds time) {
  (void)::poll(nullptr, 0, static_cast<int>(time.count()));
}

}  // namespace gangrun::cluster
