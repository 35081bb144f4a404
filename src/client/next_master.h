#pragma once

#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/pause.h"
#include "base/result.h"
#include "client/context.h"

namespace gangrun::client {

// So long a job's next master is waited for when one has died, and the agents' return to it. Tasks
// wait as long for their keys.
inline constexpr std::chrono::seconds kMasterPatience{60};

// The tries of one question while the master or the agents that it needs may come back.
class NextMaster {
 public:
  NextMaster(const Context& context, base::Duration patience)
      : context_(context), patience_(patience), deadline_(context.clock.now() + patience) {}

  // Whether to ask again, after a pause; the first time that is said. The error is kUnavailable
  // where it may pass.
  bool try_again(const base::Error& error);
  // The last error, with how long it was waited.
  [[nodiscard]] base::Error give_up(base::Error error) const;

 private:
  const Context& context_;
  const base::Duration patience_;
  const base::Instant deadline_;
  base::Pause pause_{std::chrono::milliseconds(50), std::chrono::seconds(1)};
  bool has_told_ = false;
};

// The answer to a question to a running job, of its next master if it has none for a moment.
template <typename Ask>
auto with_next_master(const Context& context, const Ask& ask,
                      base::Duration patience = kMasterPatience) -> decltype(ask()) {
  NextMaster next(context, patience);
  while (true) {
    auto answer = ask();
    if (answer.ok()) return answer;
    if (!next.try_again(answer.error())) return next.give_up(std::move(answer).error());
  }
}

}  // namespace gangrun::client
