#pragma once

#include <chrono>

namespace gangrun::agent {

// The next step of an agent with its task: from a start to its end, and the end of the agent. Each
// call says what is to be done now; when that has been done, the call of its name follows. Pure.
//
//   waits ── start ──► runs ── run_ended ──► sends its result ── result_over ──► told ──► waits
//
// An agent that waits and owes the outputs of its last run keeps them before it ends.
class TaskPhases {
 public:
  enum class Next {
    kNothing,
    kStopRun,      // within the grace of end()
    kLimitResult,  // likewise: then the result is lost
    kSendResult,   // then result_over()
    kKeepOutputs,  // that the last run has left, within the grace of end(); then result_over()
    kTellEnd,      // a result that is being sent is dropped; then end_told()
    kFarewell,     // tells the master that the agent is ending, then ends it
    kEnd,          // the agent, at once
  };

  // Whether a start that comes now is obeyed.
  [[nodiscard]] bool may_start() const { return !ending_ && phase_ == Phase::kWaiting; }
  void started();
  // The run for which started() was called could not be started.
  void not_started() { phase_ = Phase::kWaiting; }
  // The end of the run is told without its outputs: another run may follow.
  void owe_outputs() { owes_outputs_ = true; }
  // The master has asked for the end of the run.
  void stop_asked() { stop_asked_ = true; }

  [[nodiscard]] Next run_ended();
  [[nodiscard]] Next result_over();
  [[nodiscard]] Next end_told();
  // The agent is to end, and its run before it. May be called again.
  [[nodiscard]] Next end(std::chrono::milliseconds grace);
  // There is nobody any more to whom anything can be told.
  void session_lost() { has_session_ = false; }

  [[nodiscard]] bool is_ending() const { return ending_; }
  // Whether the present run, or the last one, was told to stop.
  [[nodiscard]] bool is_stop_asked() const { return stop_asked_; }

 private:
  enum class Phase { kWaiting, kRunning, kSendingResult, kTelling, kKeepingOutputs };

  [[nodiscard]] Next leave();

  Phase phase_ = Phase::kWaiting;
  bool ending_ = false;
  bool stop_asked_ = false;
  bool owes_outputs_ = false;
  bool has_session_ = true;
};

}  // namespace gangrun::agent
