#pragma once

#include <string>

#include "base/clock.h"
#include "job/exit_report.h"
#include "job/reason.h"
#include "job/task_id.h"

// What rooms tell each other of ends (docs/ARCHITECTURE.md, "The words for ends").
namespace gangrun::job {

// Why something ended, as far as the place where it ran says.
struct Why {
  // Goes on after the name of what has ended: "was evicted by Kubernetes: …".
  std::string sentence;
  Reason reason = Reason::kUnknown;

  friend bool operator==(const Why&, const Why&) = default;
};

// A run of a task's command has ended, or could not begin; whoever watched it is still there.
struct Exited {
  TaskId task;
  int attempt = 0;
  ExitReport report;
  base::Instant ended_at;  // by this host's clock

  friend bool operator==(const Exited&, const Exited&) = default;
};

// A task's agent, or the slot that stands for one, is gone, and with it everything that it had
// started.
struct AgentEnded {
  TaskId task;
  int attempt = 0;
  // Goes on after the task's name: "lost its agent, which was killed by signal 9 (kill)".
  std::string sentence;
  base::Instant ended_at;
  Reason reason = Reason::kAgentEnded;

  friend bool operator==(const AgentEnded&, const AgentEnded&) = default;
};

}  // namespace gangrun::job
