#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/pause.h"
#include "job/exit_report.h"
#include "job/task_id.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/pods/pod_run.h"

// The entry of one task in the book (pod_book.h).
namespace gangrun::kubernetes::pods {

// A limit becomes this one, unless it is lower.
template <typename T>
void lower(std::optional<T>& limit, T to) {
  limit = std::min(limit.value_or(to), to);
}

// Other machines' times as instants here. Whatever is told is told after it happened, so the
// smallest distance ever seen between the two clocks is the best guess at it.
class ServerTime {
 public:
  // Something of this time was heard of now.
  void heard(base::WallTime time, base::Instant now) {
    lower(ahead_, base::Duration(now.time_since_epoch() - time.time_since_epoch()));
  }
  // Never after `now`; `now` before anything was heard.
  [[nodiscard]] base::Instant instant_of(base::WallTime time, base::Instant now) const {
    return ahead_ ? std::min(now, base::Instant(time.time_since_epoch() + *ahead_)) : now;
  }

 private:
  std::optional<base::Duration> ahead_;  // of our instants before their times
};

// A slot that start() has asked for.
struct Slot {
  int attempt = 0;
  bool is_adopted = false;  // whether its pod is there is not known yet
  bool is_stopping = false;
  std::string uid{};  // of the pod that is adopted; empty: of whatever pod has the name
};

struct PodRunEnd {
  job::ExitReport report;
  bool is_lost = false;       // by no fault of the command's
  bool is_with_node = false;  // which does not say when its pod is gone
  bool is_known = false;      // by the status of its container
  base::Instant seen_at{};
  std::optional<base::WallTime> finished_at{};  // to the second, by its node's clock
  base::Instant outputs_by{};
};

enum class LogState {
  kNone,
  kFollowed,
  kBroken,     // to be followed again
  kFinishing,  // the rest is being read
  kDone,
};

enum class FetchState { kNone, kAsked, kDone };

// How much of it is told that a run's pod is taken away.
enum class Notice {
  kNone,
  kMaybe,
  kSurely,
};

struct Run : PodRun {
  base::Instant asked_at;
  base::Instant create_at;                                 // not before
  base::Pause pause{base::seconds(1), base::seconds(10)};  // before its pod is requested again
  std::string refusal;                                     // why it could not be made so far
  std::string lacked;                       // why it got no node when it was last tried
  std::string uid;                          // of its pod; empty: none yet
  std::optional<base::Instant> placed_at;   // has a node since
  std::optional<base::Instant> trouble_at;  // its start meets trouble since
  bool is_place_told = false;
  Notice notice = Notice::kNone;
  bool is_started = false;
  bool is_taken_back = false;
  bool is_closed = false;  // its log and outputs are here
  std::optional<base::Instant> asked_to_end_at;
  std::optional<PodRunEnd> end;
  LogState log = LogState::kNone;
  base::Instant log_at;  // when it was last heard of, or is to be read again
  base::Pause log_pause{base::seconds(1), base::seconds(20)};  // before it is read again
  std::string log_error;
  std::optional<base::WallTime> last_line;
  FetchState fetch = FetchState::kNone;
};

struct Deletion {
  std::chrono::seconds grace{0};
  std::optional<base::Instant> again_at{};  // it was refused
};

struct PodEntry {
  job::TaskId task;
  std::string name;
  std::optional<Slot> slot;
  std::optional<Run> run;
  std::optional<std::chrono::milliseconds> grace;  // that was last given to the run

  // The object that has the name.
  std::optional<PodFacts> pod;
  bool is_seen = false;        // the watch has told of it
  bool is_being_made = false;  // a request is under way
  bool is_unsure = false;      // it may be there: it is to be looked for
  bool is_looked_for = false;  // which is under way
  base::Instant look_at;
  std::vector<std::string> dead;           // uids of the last ones that had the name
  std::optional<Deletion> deletion;        // as asked for by us
  std::optional<base::Instant> owner_at;   // deleted by others: the owner is read again
  std::optional<base::Instant> ends_by;    // what its node was told first
  std::optional<base::Instant> force_at;   // it should have ended before
  std::optional<base::Instant> dead_at;    // its agent is silent, and is dead by then
  bool was_refused_deletion = false;       // told
  std::string warning;                     // of its events
  std::optional<base::Instant> events_at;  // when they are to be requested

  std::optional<base::Instant> wake;  // when time alone changes something

  [[nodiscard]] bool has_own_pod() const { return run && pod && run->uid == pod->uid; }
  // Nothing has the name, for sure.
  [[nodiscard]] bool is_free() const { return !pod && !is_being_made && !is_unsure; }
};

}  // namespace gangrun::kubernetes::pods
