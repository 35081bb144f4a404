#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/described.h"
#include "base/json.h"
#include "base/overloaded.h"
#include "base/result.h"
#include "job/cluster_spec.h"
#include "job/ends.h"
#include "job/reason.h"
#include "job/task_id.h"

// The events of a gang. `attempt` numbers the runs of a task from 1; an event of another
// attempt than the current one is late and changes nothing.
namespace gangrun::gang {

// An event that says no more than which it is.
template <base::Name kIs>
struct Bare {
  static constexpr std::string_view kName = kIs.text;
  static constexpr auto rows() { return std::tuple(); }

  friend bool operator==(const Bare&, const Bare&) = default;
};

// An event that says no more than which attempt of which task it is about.
template <base::Name kIs>
struct OfAttempt {
  job::TaskId task;
  int attempt = 0;

  static constexpr std::string_view kName = kIs.text;
  static constexpr auto rows() {
    return std::tuple(base::row("task", &OfAttempt::task),
                      base::row("attempt", &OfAttempt::attempt, base::Range{1, job::kMaxAttempt}));
  }

  friend bool operator==(const OfAttempt&, const OfAttempt&) = default;
};

// The first event of a job: everything is requested.
using Begin = Bare<"begin">;

// The cluster has nothing to give yet, and says why.
struct ClusterWaiting {
  std::string reason;

  static constexpr std::string_view kName = "cluster_waiting";
  static constexpr auto rows() {
    return std::tuple(base::row("reason", &ClusterWaiting::reason, job::kSentence));
  }

  friend bool operator==(const ClusterWaiting&, const ClusterWaiting&) = default;
};

struct Allocated {
  job::TaskId task;
  int attempt = 0;
  std::string host;

  static constexpr std::string_view kName = "allocated";
  static constexpr auto rows() {
    return std::tuple(base::row("task", &Allocated::task),
                      base::row("attempt", &Allocated::attempt, base::Range{1, job::kMaxAttempt}),
                      base::row("host", &Allocated::host, job::kTextHost));
  }

  friend bool operator==(const Allocated&, const Allocated&) = default;
};

// The agent holds a port and waits for the cluster spec.
struct Reported {
  job::TaskId task;
  int attempt = 0;
  job::Address address;

  static constexpr std::string_view kName = "reported";
  static constexpr auto rows() {
    return std::tuple(base::row("task", &Reported::task),
                      base::row("attempt", &Reported::attempt, base::Range{1, job::kMaxAttempt}),
                      base::row("address", &Reported::address));
  }

  friend bool operator==(const Reported&, const Reported&) = default;
};

// All processes of the task run.
using Started = OfAttempt<"started">;

// No heartbeat comes from the agent; it may be alive.
using SessionLost = OfAttempt<"session_lost">;

using Reattached = OfAttempt<"reattached">;

// An observer has written output or used its CPU, or a task that has a place has got more of what
// the job brings there.
using Progress = OfAttempt<"progress">;

// Somebody asked for the end of the job: "Ctrl-C", "gangrun kill by ana".
struct StopRequested {
  std::string by;
  bool at_once = false;

  static constexpr std::string_view kName = "stop_requested";
  static constexpr auto rows() {
    return std::tuple(base::row("by", &StopRequested::by, job::kSentence),
                      base::row("at_once", &StopRequested::at_once));
  }

  friend bool operator==(const StopRequested&, const StopRequested&) = default;
};

// The cluster can never give what was asked, or is gone for good.
struct ClusterGone {
  std::string detail;  // as the cluster says it
  job::Reason reason = job::Reason::kClusterGone;

  static constexpr std::string_view kName = "cluster_gone";
  static constexpr auto rows() {
    return std::tuple(base::row("reason", &ClusterGone::detail, job::kSentence),
                      base::late_row("why", &ClusterGone::reason));
  }

  friend bool operator==(const ClusterGone&, const ClusterGone&) = default;
};

// A host does not answer: nobody tells whether its tasks end. They may.
struct HostSilent {
  std::string host;
  std::vector<job::TaskId> tasks;  // that have, or may have, an agent there

  static constexpr std::string_view kName = "host_silent";
  static constexpr auto rows() {
    return std::tuple(base::row("host", &HostSilent::host, job::kTextHost),
                      base::row("tasks", &HostSilent::tasks));
  }
  [[nodiscard]] base::Result<> complete() const;

  friend bool operator==(const HostSilent&, const HostSilent&) = default;
};

// Only the time went on: deadlines are checked.
using TimePassed = Bare<"time_passed">;

// A new master goes on with the job of a dead one: no agent has a session, and what was decided
// last may not have been done.
using Resumed = Bare<"resumed">;

using Event = std::variant<Begin, ClusterWaiting, Allocated, Reported, Started, job::Exited,
                           SessionLost, Reattached, job::AgentEnded, Progress, StopRequested,
                           ClusterGone, TimePassed, Resumed, HostSilent>;

// All but the ends of runs and of agents.
template <typename T>
concept TellsNoEnd =
    base::OneOf<T, Begin, ClusterWaiting, Allocated, Reported, Started, SessionLost, Reattached,
                Progress, StopRequested, ClusterGone, TimePassed, Resumed, HostSilent>;

// "reported", "agent_ended", …
std::string_view name_of(const Event& event);

// Questions about events outside the gang. Each answer names every event, so that a new one has
// an answer or does not compile.
[[nodiscard]] bool is_time(const Event& event);         // only the time went on
[[nodiscard]] bool asks_for_end(const Event& event);    // somebody asked for the end of the job
[[nodiscard]] bool tells_of_start(const Event& event);  // a task runs
// The end of the run of an agent that has ended unheard: it happened before this event.
[[nodiscard]] std::optional<job::Exited> run_end_in(const Event& event);

// The task whose run, or agent, has ended.
[[nodiscard]] std::optional<job::TaskId> ended_in(const Event& event);

// The event with its instants `by` later.
[[nodiscard]] Event moved_by(base::Duration by, Event event);

// For the journal: {"event": "reported", "task": "worker:0", …}. Instants are nanoseconds since the
// clock's beginning: moved_by() makes others of them.
base::Json to_json(const Event& event);
base::Result<Event> event_from_json(const base::Json& json);

}  // namespace gangrun::gang
