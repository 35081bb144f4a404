#pragma once

#include <string>
#include <variant>

#include "base/clock.h"
#include "job/cause.h"
#include "job/cluster_spec.h"
#include "job/task_id.h"

// A fact that a user should know about a job that goes on.
namespace gangrun::gang {

// A task has failed, or got no place; the job goes on.
struct TaskFailed {
  enum class Then {
    kRestart,                 // counted: `restart` of `max`
    kRestartNotCounted,       // no fault of its own
    kRestartForWant,          // the same: of another task, `lacked`; all restart
    kAnotherPort,             // it alone starts again
    kAnotherAgent,            // it ran nothing yet: another place is requested
    kNoOtherAgent,            // the same, as often as is permitted
    kWithoutIt,               // nobody needs it
    kWithoutItUntilPlaced,    // the others suffice until then
    kWithoutItNoRestartLeft,  // the others suffice
  };
  job::Cause cause;
  Then then = Then::kRestart;
  int restart = 0;
  int max = 0;
  job::TaskId lacked{};
  friend bool operator==(const TaskFailed&, const TaskFailed&) = default;
};

// A spare has taken a place.
struct Replaced {
  job::TaskId by;
  job::TaskId lost;
  friend bool operator==(const Replaced&, const Replaced&) = default;
};

// The gang of an elastic type has another size than before.
struct Resized {
  std::string type;
  std::size_t tasks = 0;
  std::size_t wanted = 0;
  friend bool operator==(const Resized&, const Resized&) = default;
};

// A task that restarted alone has another address than the others know: all restart.
struct CameBackElsewhere {
  job::TaskId task;
  job::Address now;
  job::Address before;
  friend bool operator==(const CameBackElsewhere&, const CameBackElsewhere&) = default;
};

struct HostAvoided {
  std::string host;
  base::Duration avoided_for{};
  int failures = 0;
  base::Duration within{};
  friend bool operator==(const HostAvoided&, const HostAvoided&) = default;
};

// An observer was stopped.
struct NoProgress {
  job::TaskId task;
  base::Duration since_others_ended{};
  friend bool operator==(const NoProgress&, const NoProgress&) = default;
};

// Nobody can say whether something of it is alive.
struct EndNotConfirmed {
  job::TaskId task;
  std::string host;  // empty: not known
  friend bool operator==(const EndNotConfirmed&, const EndNotConfirmed&) = default;
};

// Nor of any task of a host that does not answer any more.
struct HostNotConfirmed {
  std::string host;
  std::vector<job::TaskId> tasks;
  base::Duration lease{};  // after which agents there end them, without a master
  friend bool operator==(const HostNotConfirmed&, const HostNotConfirmed&) = default;
};

using Warning = std::variant<TaskFailed, Replaced, Resized, CameBackElsewhere, HostAvoided,
                             NoProgress, EndNotConfirmed, HostNotConfirmed>;

// One sentence.
std::string to_words(const Warning& warning);

}  // namespace gangrun::gang
