#include "base/pause.h"

#include <poll.h>

namespace gangrun::base {

void pause_for(Duration length) {
  (void)::poll(nullptr, 0, static_cast<int>(std::chrono::ceil<milliseconds>(length).count()));
}

}  // namespace gangrun::base
