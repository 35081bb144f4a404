#include "agent/task_phases.h"

namespace gangrun::agent {

using Next = TaskPhases::Next;

void TaskPhases::started() {
  phase_ = Phase::kRunning;
  stop_asked_ = false;
  owes_outputs_ = false;
}

Next TaskPhases::run_ended() {
  phase_ = has_session_ ? Phase::kSendingResult : Phase::kTelling;
  return has_session_ ? Next::kSendResult : Next::kTellEnd;
}

Next TaskPhases::result_over() {
  if (phase_ == Phase::kKeepingOutputs) return leave();
  phase_ = Phase::kTelling;
  return Next::kTellEnd;
}

Next TaskPhases::end_told() {
  phase_ = Phase::kWaiting;
  return ending_ ? leave() : Next::kNothing;
}

Next TaskPhases::end(std::chrono::milliseconds grace) {
  ending_ = true;
  switch (phase_) {
    case Phase::kRunning: return Next::kStopRun;
    case Phase::kSendingResult:
      if (has_session_ && grace.count() > 0) return Next::kLimitResult;
      phase_ = Phase::kTelling;
      return Next::kTellEnd;
    case Phase::kTelling: return Next::kTellEnd;
    case Phase::kKeepingOutputs:
      if (has_session_ && grace.count() > 0) return Next::kLimitResult;
      break;
    case Phase::kWaiting:
      if (!owes_outputs_ || !has_session_ || grace.count() == 0) break;
      owes_outputs_ = false;
      phase_ = Phase::kKeepingOutputs;
      return Next::kKeepOutputs;
  }
  return leave();
}

// A second one does not wait for the farewell of the first.
Next TaskPhases::leave() {
  if (!has_session_) return Next::kEnd;
  has_session_ = false;
  return Next::kFarewell;
}

}  // namespace gangrun::agent
