#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "cluster/task_files.h"
#include "cluster/tasks.h"
#include "gang/event.h"
#include "job/cluster_spec.h"
#include "job/ends.h"
#include "job/spec.h"
#include "job/task_id.h"

namespace gangrun::cluster {

// All that a place needs to start one agent.
struct Launch {
  job::Resources resources;
  // The place where the task was before, as a wish.
  std::optional<job::Address> wanted;
  // Hosts that are no place for it while there is another.
  std::vector<std::string> avoided{};
  // Containers (task_files.h) that an engine beside the agent is to run the task in; none: it
  // runs in no image, or the place itself sees to it.
  std::vector<std::string> containers{};
  // The agent's configuration (wire/agent_config.h). Holds the job's secret: it is handed on by a
  // way that no other user sees, never in a command line or an environment.
  base::Json agent_config;
};

// gang::Allocated with the agent's handle.
struct AgentAllocated {
  job::TaskId task;
  int attempt = 0;
  std::string host;
  // A later master's adopt() finds the agent by it. Holds no secret: it is journalled.
  base::Json handle;
};

// The place may take the task away: a warning, some seconds ahead. That it has, job::AgentEnded
// tells.
struct PreemptionNotice {
  job::TaskId task;
  int attempt = 0;
  base::Instant deadline;  // not before
  // The place does, for this reason. Other tasks that fail meanwhile may fail for want of this one.
  std::optional<job::Why> loss{};
};

// All agents that were being taken away when look_for_losses() was called have been told, as far as
// the place could know in time.
struct LossesTold {};

// Every start() is answered by exactly one job::AgentEnded: the agent has ended, and nothing that
// it started is alive; or will be, when the next start() of the task is obeyed.
using LaunchEvent =
    std::variant<gang::ClusterWaiting, AgentAllocated, PreemptionNotice, job::AgentEnded,
                 LossesTold, gang::ClusterGone, gang::HostSilent, Remark, TasksWarning>;

// A place that starts the agents of tasks. Called on the loop's thread only; events come on
// it too, never from inside a call.
class Launcher {
 public:
  virtual ~Launcher() = default;
  virtual void on_event(std::function<void(LaunchEvent)> listener) = 0;
  // Asks for a place and an agent in it.
  virtual void start(const job::TaskId& task, int attempt, Launch launch) = 0;
  // Takes over the agent that an earlier master of the job had started: it is as if this object had
  // started it, and its end is told as any other. Agents of the job that exist and are not adopted
  // by the time of release_others() are ended then.
  virtual void adopt(const job::TaskId& task, int attempt, const base::Json& handle) = 0;
  virtual void release_others() = 0;
  // Ends the agent with all that it started. To end by itself it gets `grace` at most: what the
  // place cannot give, it does not. For an attempt that is not there it does nothing.
  virtual void stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace) = 0;
  // The agent of this task has a session with the master. False: nobody awaits it any more, and its
  // session is the only way to tell it so.
  virtual bool on_session_open(const job::TaskId& /*task*/) { return true; }
  // `farewell`: it has left, and perhaps why; none: the connection broke.
  virtual void on_session_lost(const job::TaskId& /*task*/,
                               const std::optional<std::string>& /*farewell*/) {}
  // A task has failed, perhaps for want of one that the place takes away and has not told of yet: a
  // place that hears late of that looks for it, and tells LossesTold within seconds. Not called
  // again before. False: this place has told all that it can know.
  virtual bool look_for_losses() { return false; }
  // Whoever waits for the end of the job wants it at once: what does not answer now is told as
  // silent soon.
  virtual void hurry() {}
  // The job has ended, and nothing of it runs: brings what its tasks have written to a folder that
  // goes with the job, and calls `done`, here or later from the loop. No second time.
  virtual void settle(std::function<void()> done) { done(); }
  // Nobody waits for settle() any longer: what was not brought stays where it is, and `done` is
  // called.
  virtual void cut_short() {}
  // Says in words what places still do before the agents there can report; empty: nothing that is
  // known.
  [[nodiscard]] virtual std::string preparations() const { return {}; }
  // Says in words that the place does not answer, for which no task that runs waits; empty: it
  // does, for all that is known.
  [[nodiscard]] virtual std::string silence() const { return {}; }
  // The number under which this machine knows a process that a task's agent calls `pid`; 0 where
  // that makes no sense, as for a task on another host.
  [[nodiscard]] virtual std::int64_t pid_here(const job::TaskId& task, std::int64_t pid) const = 0;
};

}  // namespace gangrun::cluster
