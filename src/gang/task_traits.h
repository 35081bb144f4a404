#pragma once

#include "gang/gang.h"

// For the parts of this room: what a task is to those who decide about its whole type.
namespace gangrun::gang {

// Not where it is to start again.
inline bool is_done(const Task& task) {
  if (task.restart_at) return false;
  return task.phase == Phase::kIdle || task.phase == Phase::kEnding || task.phase == Phase::kGone;
}

inline bool is_to_be_asked(const Task& task) {
  return task.phase == Phase::kGone && task.restart_at.has_value();
}

inline bool is_pending(const Task& task) {
  return task.phase == Phase::kAsked || task.phase == Phase::kAllocated || is_to_be_asked(task);
}

// A spare that can take a place.
inline bool is_free(const Task& task) {
  return !task.member && task.phase == Phase::kRegistered && !task.silent;
}

// Its agent has ended since it was last there: it comes back later than a spare, or never.
inline bool is_lost(const Task& task) {
  return task.dropped || is_to_be_asked(task) ||
         (is_pending(task) && !task.has_run && task.attempt > 1);
}

inline bool may_still_run(const Task& task) {
  return task.phase == Phase::kStopping || (task.phase == Phase::kEnding && task.has_run);
}

}  // namespace gangrun::gang
