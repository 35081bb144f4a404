#include "yarn/master_turns.h"

#include <utility>

namespace gangrun::yarn {

void MasterTurns::arm(base::Instant at) {
  if (!unwanted_ && !finishing_) call_at_ = at;
}

void MasterTurns::begin(base::Instant now) {
  began_ = true;
  hurry(now);
}

void MasterTurns::hurry(base::Instant now) {
  pause_.reset();
  const bool is_due = call_at_ && *call_at_ <= now;
  if (began_ && !busy_ && !is_due) arm(now);
}

std::optional<MasterTurns::Call> MasterTurns::take_call(base::Instant now) {
  if (busy_ || !call_at_ || now < *call_at_) return std::nullopt;
  call_at_.reset();
  busy_ = true;
  return registered_ ? Call::kAllocate : Call::kRegister;
}

void MasterTurns::on_registered(base::Instant now) {
  busy_ = false;
  registered_ = true;
  silent_since_.reset();
  pause_.reset();
  arm(now);
}

void MasterTurns::on_allocated(bool has_new, bool has_more, base::Instant now) {
  busy_ = false;
  silent_since_.reset();
  if (has_new || has_more) pause_.reset();
  if (has_more) return arm(now);
  // Nothing new is waited for: YARN only wants to hear that we live, and tells what has ended.
  arm(now + pause_.next());
}

MasterTurns::Failure MasterTurns::on_failed(base::Code code, base::Instant now) {
  busy_ = false;
  switch (code) {
    case base::Code::kFailedPrecondition:
      registered_ = false;
      arm(now + kFirstPoll);
      return Failure::kRestarted;
    case base::Code::kNotFound:
      unwanted_ = true;
      call_at_.reset();
      return Failure::kReplaced;
    case base::Code::kInvalidArgument: arm(now + kLongestPoll); return Failure::kRefused;
    default: break;
  }
  arm(now + kSilentPoll);
  if (!silent_since_) {
    silent_since_ = now;
    return Failure::kBecameSilent;
  }
  const bool is_over = now - *silent_since_ > kResourceManagerTimeout;
  return is_over && !std::exchange(told_silent_, true) ? Failure::kGivenUp : Failure::kSilent;
}

void MasterTurns::finish() {
  finishing_ = true;
  call_at_.reset();
}

}  // namespace gangrun::yarn
