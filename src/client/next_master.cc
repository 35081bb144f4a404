#include "client/next_master.h"

#include "base/format.h"

namespace gangrun::client {

bool NextMaster::try_again(const base::Error& error) {
  if (error.code != base::Code::kUnavailable || context_.clock.now() >= deadline_) return false;
  if (!std::exchange(has_told_, true)) {
    context_.console.error(base::format("waits for the job's master: {}", error.message));
  }
  base::pause_for(pause_.next());
  return true;
}

base::Error NextMaster::give_up(base::Error error) const {
  if (!has_told_ || error.code != base::Code::kUnavailable) return error;
  error.message += base::format("; gave up after {}", base::to_words(patience_));
  return error;
}

}  // namespace gangrun::client
