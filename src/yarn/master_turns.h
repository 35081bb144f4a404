#pragma once

#include <chrono>
#include <optional>

#include "base/clock.h"
#include "base/pause.h"
#include "base/result.h"

namespace gangrun::yarn {

// The first look for an answer after an ask, doubled from look to look up to the other; between
// them an answer takes hardly longer than the scheduler does.
inline constexpr std::chrono::milliseconds kFirstPoll{10};
inline constexpr std::chrono::milliseconds kLongestPoll{1000};
// The pause before a ResourceManager that does not answer is called again, and for how long it may
// be away before it is given up.
inline constexpr std::chrono::milliseconds kSilentPoll(500);
inline constexpr std::chrono::minutes kResourceManagerTimeout{15};

// When an application's master calls the ResourceManager, for what, and what a call that failed
// means. One call at a time. Pure: it is told what has been answered and when.
class MasterTurns {
 public:
  enum class Call { kRegister, kAllocate };
  enum class Failure {
    kSilent,        // nobody answers, still
    kBecameSilent,  // since now
    kGivenUp,       // for too long; told once
    kRestarted,     // it knows nothing of us: what was asked is asked again, when we are registered
    kReplaced,      // this master is not wanted any more: no more calls
    kRefused,       // what was asked can never be granted
  };

  // Calls may be made from now on.
  void begin(base::Instant now);
  // There is something to say, or something will be answered soon. Several in one turn of the loop
  // go together.
  void hurry(base::Instant now);
  // When the next call is due, if ever.
  [[nodiscard]] std::optional<base::Instant> next_call_at() const { return call_at_; }
  // The call that is due, and is under way from now on; none: it is not due.
  [[nodiscard]] std::optional<Call> take_call(base::Instant now);

  // How the call has ended.
  void on_registered(base::Instant now);
  // `has_new`: it brought containers, and the others are not far. `has_more`: there is more to say.
  void on_allocated(bool has_new, bool has_more, base::Instant now);
  Failure on_failed(base::Code code, base::Instant now);

  // No more calls.
  void finish();
  // Whether YARN waits for a last word of this master. While a call is under way that may change.
  [[nodiscard]] bool is_awaited() const { return registered_ && !unwanted_; }

  [[nodiscard]] bool is_busy() const { return busy_; }
  [[nodiscard]] bool is_unwanted() const { return unwanted_; }

 private:
  void arm(base::Instant at);

  bool began_ = false;
  bool registered_ = false;
  bool busy_ = false;
  bool unwanted_ = false;
  bool finishing_ = false;
  std::optional<base::Instant> call_at_;
  base::Pause pause_{kFirstPoll, kLongestPoll};
  std::optional<base::Instant> silent_since_;
  bool told_silent_ = false;
};

}  // namespace gangrun::yarn
