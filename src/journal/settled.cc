#include "journal/settled.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

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
    task.state = job::is_final(state) ? state : job::TaskState::kLost;
    task.attempt = known->attempt;
    task.exit = known->exit;
  }
}

}  // namespace

base::Result<job::JobStatus> settled(const std::string& folder, job::JobStatus last,
                                     base::Instant now, base::WallTime wall_now) {
  const auto journal = read_journal(folder);
  if (!journal.ok() && journal.error().code == base::Code::kNotFound) return last;
  if (!journal.ok()) return journal.error();
  const auto replayed = replayed_with_its_lease(*journal, now, wall_now);
  if (!replayed.ok() && replayed.error().code == base::Code::kNotFound) return last;
  if (!replayed.ok()) return replayed.error();
  const auto verdict = replayed->gang.verdict();
  if (!verdict) return last;
  last.state = *verdict;
  last.cause = replayed->finish ? replayed->finish->cause : replayed->gang.first_cause();
  last.waiting_for.clear();
  last.restarts_used = replayed->gang.restarts_used();
  last.generation = std::max(last.generation, replayed->generation);
  settle_tasks(replayed->gang, last);
  if (replayed->last_event) {
    const base::WallTime ended = wall_now - std::chrono::duration_cast<base::WallTime::duration>(
                                                now - *replayed->last_event);
    last.ended = base::to_iso8601(ended);
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::milliseconds>(ended - replayed->submitted);
    last.elapsed_ms = std::max<std::int64_t>(last.elapsed_ms, elapsed.count());
  }
  last.notes.emplace_back(kNoVerdict);
  return last;
}

}  // namespace gangrun::journal
