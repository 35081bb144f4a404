#pragma once

#include "base/clock.h"
#include "job/exit_report.h"
#include "job/task_id.h"
#include "job/why.h"

// What rooms tell each other of ends (docs/ARCHITECTURE.md, "The words for ends").
namespace gangrun::job {

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
  Why why = {.reason = Reason::kAgentEnded};
  base::Instant ended_at;

  friend bool operator==(const AgentEnded&, const AgentEnded&) = default;
};

}  // namespace gangrun::job
