#include "kubernetes/pods/detached_status.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/pod_words.h"

namespace gangrun::kubernetes::pods {

namespace {

using base::format;
using job::JobState;
using job::TaskState;

// How many tasks a sentence names.
constexpr std::size_t kMaxNamed = 3;

struct End {
  bool success = false;
  bool is_lost = false;  // by no fault of the command's
  job::Why why;
  // None: nobody knows, and it counts as later than all others.
  std::optional<base::WallTime> at;
};

std::optional<End> end_of(const PodFacts* pod) {
  if (pod == nullptr) {
    return End{false,
               true,
               {.reason = job::Reason::kContainerLost, .detail = "its pod is gone"},
               std::nullopt};
  }
  const bool has_terminated = pod->task.state == ContainerFacts::State::kTerminated;
  if (!has_terminated && !pod->is_over()) {
    if (start_trouble(*pod) != StartTrouble::kFinal) return std::nullopt;
    return End{false, false, not_started(start_reason(*pod), pending_words(*pod, "")).why,
               std::nullopt};
  }
  const job::ExitReport report = exit_report(*pod);
  const std::optional<job::Why> loss = report.success ? std::nullopt : loss_of(*pod);
  if (loss) return End{false, true, *loss, pod->task.finished_at};
  return End{report.success, false, report.why, pod->task.finished_at};
}

TaskState state_of(const PodFacts* pod, const std::optional<End>& end) {
  if (end) {
    if (end->success) return TaskState::kSucceeded;
    return end->is_lost ? TaskState::kLost : TaskState::kFailed;
  }
  if (pod->is_deleting) return TaskState::kStopping;
  if (pod->task.state == ContainerFacts::State::kRunning) return TaskState::kRunning;
  return pod->is_scheduled() ? TaskState::kAllocated : TaskState::kWaiting;
}

const PodFacts* pod_of(const PodsByTask& pods, const job::TaskId& task) {
  const auto found = pods.find(task);
  return found == pods.end() ? nullptr : &found->second;
}

bool is_before(const std::optional<base::WallTime>& a, const std::optional<base::WallTime>& b) {
  return a && (!b || *a < *b);
}

// The tasks' ends, as far as they decide the job's.
struct Tally {
  std::size_t unsucceeded = 0;                 // of those whose success is the job's
  std::optional<base::WallTime> succeeded_at;  // the last of them
  std::optional<std::pair<job::TaskId, End>> first_failure;

  void add(const job::TaskId& task, bool is_awaited, const std::optional<End>& end) {
    const bool succeeded = end && end->success;
    if (is_awaited && !succeeded) ++unsucceeded;
    if (is_awaited && succeeded) succeeded_at = std::max(succeeded_at, end->at);
    if (!end || end->success) return;
    if (!first_failure || is_before(end->at, first_failure->second.at))
      first_failure = {task, *end};
  }
  [[nodiscard]] bool has_failed() const {
    return first_failure && (unsucceeded > 0 || is_before(first_failure->second.at, succeeded_at));
  }
};

void fail(job::JobStatus& status, const job::TaskId& task, const End& end, const PodFacts* pod) {
  status.state = JobState::kFailed;
  if (end.at) status.ended = base::to_iso8601(*end.at);
  job::Cause cause;
  cause.task = task;
  cause.why = end.why;
  if (pod != nullptr) cause.host = pod->node;
  cause.why.host.clear();  // once is enough
  status.cause = std::move(cause);
}

// Sets what the job waits for; it is running if it waits for nothing.
void wait(job::JobStatus& status, const PodsByTask& pods) {
  std::vector<std::string> words;
  bool has_all_places = true;
  for (const job::TaskStatus& task : status.tasks) {
    if (task.state != TaskState::kWaiting && task.state != TaskState::kAllocated) continue;
    has_all_places = has_all_places && task.state == TaskState::kAllocated;
    words.push_back(
        format("{}: {}", job::to_string(task.task), pending_words(pods.at(task.task), "")));
  }
  status.waiting_for = base::first_and_more(words, kMaxNamed);
  status.state = words.empty()    ? JobState::kRunning
                 : has_all_places ? JobState::kRollCall
                                  : JobState::kAllocating;
}

void note_what_runs(job::JobStatus& status) {
  status.notes.clear();
  std::vector<std::string> running;
  for (const job::TaskStatus& task : status.tasks) {
    if (!job::is_final(task.state)) running.push_back(job::to_string(task.task));
  }
  if (running.empty() || !job::is_final(status.state)) return;
  status.notes.push_back(format("not ended: {}; gangrun kill {} ends what is left of the job",
                                base::first_and_more(running, kMaxNamed), status.id));
}

}  // namespace

PodsByTask pods_by_task(const Manifests& manifests, const std::vector<base::Json>& pods) {
  const Owner owner{owner_name(manifests.input()), ""};
  std::map<std::string, const base::Json*> by_name;
  for (const base::Json& pod : pods) {
    if (is_owned_by(pod, owner)) by_name[name_of(pod)] = &pod;
  }
  PodsByTask found;
  for (const job::TaskId& task : manifests.input().spec.task_ids()) {
    const auto pod = by_name.find(manifests.pod_name(task));
    if (pod == by_name.end()) continue;
    found[task] = pod_facts(*pod->second, manifests.container_of(task));
  }
  return found;
}

job::JobStatus unseen_status(const Manifests& manifests) {
  const ManifestInput& input = manifests.input();
  job::JobStatus status;
  status.id = input.job_id;
  status.name = input.spec.name;
  status.generation = 1;
  for (const job::TaskId& id : input.spec.task_ids()) {
    job::TaskStatus task;
    task.task = id;
    task.policy = job::effective_policy(input.spec, *input.spec.find(id.type));
    task.address = job::to_string(manifests.address_of(id));
    status.tasks.push_back(std::move(task));
  }
  return status;
}

job::JobStatus detached_status(const Manifests& manifests, const PodsByTask& pods) {
  job::JobStatus status = unseen_status(manifests);
  const std::string& success = manifests.input().spec.success;
  Tally tally;
  for (job::TaskStatus& task : status.tasks) {
    const PodFacts* pod = pod_of(pods, task.task);
    const std::optional<End> end = end_of(pod);
    task.state = state_of(pod, end);
    if (end) task.exit = end->why;
    const bool is_awaited =
        success == "all" ? task.policy == job::Policy::kTracked : task.task.type == success;
    tally.add(task.task, is_awaited, end);
  }
  if (pods.empty()) {
    status.state = JobState::kLost;
  } else if (tally.has_failed()) {
    const auto& [task, end] = *tally.first_failure;
    fail(status, task, end, pod_of(pods, task));
  } else if (tally.unsucceeded == 0) {
    status.state = JobState::kSucceeded;
    if (tally.succeeded_at) status.ended = base::to_iso8601(*tally.succeeded_at);
  } else {
    wait(status, pods);
  }
  note_what_runs(status);
  return status;
}

job::JobStatus after_verdict(job::JobStatus decided, const Manifests& manifests,
                             const PodsByTask& pods) {
  const job::JobStatus now = detached_status(manifests, pods);
  for (std::size_t i = 0; i < decided.tasks.size() && i < now.tasks.size(); ++i) {
    job::TaskStatus& task = decided.tasks[i];
    if (job::is_final(task.state)) continue;
    const bool is_there = pods.contains(task.task);
    task.state = is_there ? now.tasks[i].state : TaskState::kStopped;
    if (is_there) task.exit = now.tasks[i].exit;
  }
  note_what_runs(decided);
  return decided;
}

job::JobStatus after_stop(job::JobStatus last, const std::string& by, const Manifests& manifests,
                          const PodsByTask& pods) {
  if (!pods.empty()) {
    job::JobStatus status = detached_status(manifests, pods);
    status.state = JobState::kStopping;
    status.cause.reset();
    status.ended.clear();
    status.waiting_for.clear();
    status.notes.clear();
    for (job::TaskStatus& task : status.tasks) {
      if (!pods.contains(task.task)) {
        task.state = TaskState::kStopped;
        task.exit.reset();
      }
    }
    return status;
  }
  last.state = JobState::kKilled;
  last.waiting_for.clear();
  last.cause = job::Cause{.why = {.reason = job::Reason::kStopped, .detail = by}};
  for (job::TaskStatus& task : last.tasks) {
    if (!job::is_final(task.state)) task.state = TaskState::kStopped;
  }
  return last;
}

bool has_settled(const job::JobStatus& status) {
  return job::is_final(status.state) &&
         std::all_of(status.tasks.begin(), status.tasks.end(),
                     [](const job::TaskStatus& task) { return job::is_final(task.state); });
}

}  // namespace gangrun::kubernetes::pods
