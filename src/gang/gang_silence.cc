#include <utility>

#include "gang/gang.h"

// Hosts of which nothing is heard, while a job ends.
namespace gangrun::gang {

std::vector<std::size_t> Gang::awaited_of(const HostSilent& event) const {
  std::vector<std::size_t> awaited;
  if (stage_ != Stage::kStopping) return awaited;
  for (const job::TaskId& id : event.tasks) {
    const Task* task = find(id);
    if (task != nullptr && task->phase == Phase::kEnding) awaited.push_back(index_of(*task));
  }
  return awaited;
}

// While the job goes on, a silent host has the time of its lease. Once all is to end, waiting for
// it only keeps who waits: what is known by then is told.
void Gang::on(const HostSilent& event) {
  const std::vector<std::size_t> awaited = awaited_of(event);
  if (awaited.empty()) return;
  HostNotConfirmed warning{.host = event.host, .tasks = {}, .lease = limits_.silence};
  for (const std::size_t index : awaited) warning.tasks.push_back(tasks_[index].id);
  warn(std::move(warning));
  for (const std::size_t index : awaited) {
    Task& task = tasks_[index];
    touch(task);
    leave(task, task.outcome == Outcome::kNone ? Outcome::kLost : task.outcome);
  }
}

}  // namespace gangrun::gang
