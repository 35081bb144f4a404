#pragma once

#include <optional>
#include <tuple>

#include "base/clock.h"
#include "base/described.h"
#include "base/json.h"
#include "base/result.h"
#include "job/exit_report.h"
#include "job/task_id.h"
#include "job/why.h"

// The words of rooms to each other about ends (docs/ARCHITECTURE.md, "The words for ends").
namespace gangrun::job {

inline constexpr int kMaxAttempt = 1'000'000;

// A run of a task's command has ended, or could not begin; whoever watched it is still there.
struct Exited {
  TaskId task;
  int attempt = 0;
  ExitReport report{};
  base::Instant ended_at;  // by this host's clock

  static constexpr std::string_view kName = "exited";
  static constexpr auto rows() {
    return std::tuple(base::row("task", &Exited::task),
                      base::row("attempt", &Exited::attempt, base::Range{1, kMaxAttempt}),
                      base::row("report", &Exited::report),
                      base::row("ended_at", &Exited::ended_at));
  }

  friend bool operator==(const Exited&, const Exited&) = default;
};

// The same, of an agent whose task is known.
struct RunEnd {
  int attempt = 0;
  ExitReport report{};

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("attempt", &RunEnd::attempt), base::row("exit", &RunEnd::report));
  }

  friend bool operator==(const RunEnd&, const RunEnd&) = default;
};

// A task's agent, or the slot that stands for one, is gone, and with it everything that it had
// started.
struct AgentEnded {
  TaskId task;
  int attempt = 0;
  Why why = {.reason = Reason::kAgentEnded};
  base::Instant ended_at;
  // The end of its run before, if it could not tell its master.
  std::optional<RunEnd> run{};

  static constexpr std::string_view kName = "agent_ended";
  static constexpr auto rows() {
    return std::tuple(base::row("task", &AgentEnded::task),
                      base::row("attempt", &AgentEnded::attempt, base::Range{1, kMaxAttempt}),
                      base::row("why", &AgentEnded::why),
                      base::row("ended_at", &AgentEnded::ended_at));
  }
  // Reads one with a sentence, and a reason or two flags, in place of values.
  static base::Result<std::optional<base::Json>> renewed(const base::Json& json);

  friend bool operator==(const AgentEnded&, const AgentEnded&) = default;
};

}  // namespace gangrun::job
