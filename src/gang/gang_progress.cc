#include "gang/gang.h"

// A task that makes progress has its time again.
namespace gangrun::gang {

// A task that has a place and cannot report yet may wait for what the job brings there.
bool Gang::prolongs_roll_call(const Task& task) {
  return task.phase == Phase::kAllocated && !task.silent;
}

void Gang::on(const Progress& event) {
  Task* task = current(event.task, event.attempt);
  if (task == nullptr) return;
  if (prolongs_grace(*task)) return set_deadline(*task, now_ + task->grace);
  if (!prolongs_roll_call(*task)) return;
  if (stage_ == Stage::kGathering) waiting_since_ = now_;
  enter(*task, Phase::kAllocated);
}

}  // namespace gangrun::gang
