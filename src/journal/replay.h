#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "gang/decision.h"
#include "gang/gang.h"
#include "job/spec.h"
#include "job/status.h"
#include "journal/reader.h"

namespace gangrun::journal {

// A job as its last master had it.
struct Replayed {
  std::string job_id;
  job::JobSpec spec;
  gang::Gang gang;
  // Decided by the last event: the verdict may still have to be recorded.
  std::optional<gang::Finish> finish;
  std::vector<std::string> warnings;  // decided by the same event
  // The generation of the spec that was recorded last. The gang's own may be newer: then it was not
  // published.
  int generation = 0;
  int last_segment = 0;
  base::WallTime submitted;                  // when the first master began
  std::optional<base::Instant> all_started;  // when every task ran for the first time
  std::optional<base::Instant> last_event;   // when the gang handled it
  // How the cluster finds the agents again, by task and the attempt for which each was started.
  std::map<std::pair<job::TaskId, int>, base::Json> places;
  // Once it is there, nothing is left to do.
  std::optional<job::JobStatus> verdict;
};

// Replays a journal record by record, also one that is still being written.
class Replayer {
 public:
  Replayer(const job::JobSpec& spec, gang::Gang::Limits limits);
  // Begins a segment: the following records are of it. `now` and `wall_now` as in replay().
  base::Result<> segment(int number, const std::optional<Header>& header, base::Instant now,
                         base::WallTime wall_now);
  // Returns what the gang decided.
  std::vector<gang::Decision> record(const Record& record, base::Instant now);
  [[nodiscard]] const Replayed& replayed() const { return replayed_; }
  [[nodiscard]] Replayed take() { return std::move(replayed_); }

 private:
  std::vector<gang::Decision> handle(const EventRecord& record, base::Instant now);

  Replayed replayed_;
  base::Instant origin_;                       // of the segment
  base::Instant last_ = base::Instant::min();  // when the gang handled something
};

// Hands everything that was recorded to a new gang. `now` and `wall_now` are the same moment: by
// them, instants of dead masters' clocks become instants of this one's. A wall clock that was set
// back moves no event behind a later one, nor behind `now`.
// kNotFound: no master came so far as to record what was requested. kDataLoss: the segments
// contradict each other.
base::Result<Replayed> replay(const Journal& journal, gang::Gang::Limits limits, base::Instant now,
                              base::WallTime wall_now);

}  // namespace gangrun::journal
