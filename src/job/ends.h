#pragma once

#include <optional>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
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

// The same, of an agent whose task is known.
struct RunEnd {
  int attempt = 0;
  ExitReport report;

  friend bool operator==(const RunEnd&, const RunEnd&) = default;
};

base::Json to_json(const RunEnd& end);
base::Result<RunEnd> run_end_from_json(const base::Json& json);

// A task's agent, or the slot that stands for one, is gone, and with it everything that it had
// started.
struct AgentEnded {
  TaskId task;
  int attempt = 0;
  Why why = {.reason = Reason::kAgentEnded};
  base::Instant ended_at;
  // What its run had come to before, where it could not tell its master.
  std::optional<RunEnd> run{};

  friend bool operator==(const AgentEnded&, const AgentEnded&) = default;
};

}  // namespace gangrun::job
