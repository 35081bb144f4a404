#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gang/warning.h"
#include "job/cause.h"
#include "job/cluster_spec.h"
#include "job/status.h"
#include "job/task_id.h"

// An action that a gang wants. Decisions of one step are carried out in their order.
namespace gangrun::gang {

// A place is wanted, and an agent in it. `wanted` is where the task was before; hosts that are
// `avoided` are no place for it while there is another.
struct Allocate {
  job::TaskId task;
  int attempt = 0;
  std::optional<job::Address> wanted;
  std::vector<std::string> avoided{};
  friend bool operator==(const Allocate&, const Allocate&) = default;
};

// A new generation is complete.
struct Publish {
  job::ClusterSpec spec;
  friend bool operator==(const Publish&, const Publish&) = default;
};

// The agent starts the user's command, with the spec of this generation.
struct Start {
  job::TaskId task;
  int attempt = 0;
  int generation = 0;
  int restarts = 0;  // how often the task's command was started before
  friend bool operator==(const Start&, const Start&) = default;
};

// The agent ends the user's command (SIGTERM, after `grace` SIGKILL) and stays.
struct Stop {
  job::TaskId task;
  int attempt = 0;
  std::chrono::milliseconds grace{0};
  friend bool operator==(const Stop&, const Stop&) = default;
};

// The same, and the agent ends too. Where no session to the agent is open, the cluster ends it.
struct End {
  job::TaskId task;
  int attempt = 0;
  std::chrono::milliseconds grace{0};
  friend bool operator==(const End&, const End&) = default;
};

// The cluster ends the agent's process or container at once: asking did not help.
struct Kill {
  job::TaskId task;
  int attempt = 0;
  friend bool operator==(const Kill&, const Kill&) = default;
};

// Worth telling the user; changes nothing.
struct Warn {
  Warning warning;
  friend bool operator==(const Warn&, const Warn&) = default;
};

// The job has ended; nothing of it is alive. The last decision of a job, made once.
struct Finish {
  job::JobState state = job::JobState::kFailed;
  std::optional<job::Cause> cause;
  friend bool operator==(const Finish&, const Finish&) = default;
};

using Decision = std::variant<Allocate, Publish, Start, Stop, End, Kill, Warn, Finish>;

}  // namespace gangrun::gang
