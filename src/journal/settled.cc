#include "journal/settled.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "journal/reader.h"
#include "journal/replay.h"

namespace gangrun::journal {

namespace {

constexpr std::string_view kNoVerdict = "its master disappeared before it recorded the job's end";

// Only a task that nobody heard of any more depends on the limit. A master that waited for less has
// recorded what it did then.
base::Result<Replayed> replayed_with_its_lease(const Journal& journal, base::Instant now,
                                               base::WallTime wall_now) {
  gang::Gang::Limits limits;
  auto replayed = replay(journal, limits, now, wall_now);
  if (!replayed.ok()) return replayed;
  const auto lease = replayed->spec.timeouts.master_lost.value_or(limits.silence);
  if (lease <= limits.silence) return replayed;
  limits.silence = lease;
  return replay(journal, limits, now, wall_now);
}

void settle_tasks(const gang::Gang& gang, job::JobStatus& status) {
  for (job::TaskStatus& task : status.tasks) {
    task.pid = 0;
    task.memory_bytes = 0;
    const gang::Task* known = gang.find(task.task);
    if (known == nullptr) continue;
    // Nothing will be heard of one that was still ending.
    const job::TaskState state = gang::state_of(*known);
    const bool has_ended = job::is_final(state);
    task.state = has_ended ? state : job::TaskState::kLost;
    task.attempt = known->attempt;
    task.exit = has_ended ? known->exit : std::nullopt;
  }
}

// None: nothing was recorded.
base::Result<std::optional<Replayed>> replayed_of(const std::string& folder, base::Instant now,
                                                  base::WallTime wall_now) {
  const auto journal = read_journal(folder);
  if (!journal.ok() && journal.error().code == base::Code::kNotFound) {
    return std::optional<Replayed>();
  }
  if (!journal.ok()) return journal.error();
  auto replayed = replayed_with_its_lease(*journal, now, wall_now);
  if (!replayed.ok() && replayed.error().code == base::Code::kNotFound) {
    return std::optional<Replayed>();
  }
  if (!replayed.ok()) return replayed.error();
  return std::optional(*std::move(replayed));
}

// The status by the events, but for the verdict.
void settle_facts(const Replayed& replayed, job::JobStatus& status) {
  status.waiting_for.clear();
  status.restarts_used = replayed.gang.restarts_used();
  status.generation = std::max(status.generation, replayed.generation);
  status.has_run = replayed.gang.has_run();
  settle_tasks(replayed.gang, status);
}

void settle_verdict(const Replayed& replayed, job::JobState verdict, base::Instant now,
                    base::WallTime wall_now, job::JobStatus& status) {
  status.state = verdict;
  status.cause = replayed.finish ? replayed.finish->cause : replayed.gang.first_cause();
  if (replayed.last_event) {
    const base::WallTime ended =
        wall_now - std::chrono::duration_cast<base::WallTime::duration>(now - *replayed.last_event);
    status.ended = base::to_iso8601(ended);
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::milliseconds>(ended - replayed.submitted);
    status.elapsed_ms = std::max<std::int64_t>(status.elapsed_ms, elapsed.count());
  }
  status.notes.emplace_back(kNoVerdict);
}

// When a run has ended its agent has not left; as early as can be.
void hear_of_left_runs(Replayed& replayed, const LeftRun& left_run) {
  if (!replayed.last_event) return;
  const std::vector<gang::Task> tasks = replayed.gang.tasks();
  for (const gang::Task& task : tasks) {
    if (task.phase == gang::Phase::kAsked || task.phase == gang::Phase::kGone) continue;
    auto left = left_run(task.id, task.allocated_attempt);
    if (!left) continue;
    const job::Exited exited{task.id, left->attempt, std::move(left->report), *replayed.last_event};
    (void)replayed.gang.step(exited, *replayed.last_event);
  }
}

// Before a master has written a status.
job::JobStatus first_status(const Replayed& replayed) {
  job::JobStatus status;
  status.id = replayed.job_id;
  status.name = replayed.spec.name;
  status.restarts_max = replayed.spec.restarts.max;
  status.submitted = base::to_iso8601(replayed.submitted);
  for (const gang::Task& task : replayed.gang.tasks()) {
    job::TaskStatus known;
    known.task = task.id;
    known.policy = task.policy;
    status.tasks.push_back(std::move(known));
  }
  return status;
}

}  // namespace

base::Result<job::JobStatus> settled(const std::string& folder, job::JobStatus last,
                                     base::Instant now, base::WallTime wall_now,
                                     const LeftRun& left_run) {
  GANGRUN_ASSIGN(auto replayed, replayed_of(folder, now, wall_now));
  if (replayed && left_run) hear_of_left_runs(*replayed, left_run);
  const auto verdict = replayed ? replayed->gang.verdict() : std::nullopt;
  if (!verdict) return last;
  settle_facts(*replayed, last);
  settle_verdict(*replayed, *verdict, now, wall_now, last);
  return last;
}

base::Result<std::optional<job::JobStatus>> left_behind(const std::string& folder,
                                                        base::Instant now,
                                                        base::WallTime wall_now) {
  auto last = last_status(folder);
  if (!last.ok() && last.error().code != base::Code::kNotFound) return last.error();
  if (last.ok() && *last && job::is_final((*last)->state)) return *std::move(last);
  GANGRUN_ASSIGN(const auto replayed, replayed_of(folder, now, wall_now));
  if (!replayed) return std::optional<job::JobStatus>();
  job::JobStatus status = last.ok() && *last ? **std::move(last) : first_status(*replayed);
  settle_facts(*replayed, status);
  if (const auto verdict = replayed->gang.verdict()) {
    settle_verdict(*replayed, *verdict, now, wall_now, status);
  }
  return std::optional(std::move(status));
}

}  // namespace gangrun::journal
