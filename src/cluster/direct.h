#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "cluster/cluster.h"
#include "job/cluster_spec.h"
#include "job/ends.h"
#include "job/task_id.h"

namespace gangrun::cluster {

// Where a command finds its notice when it has one, in a folder that its user can write to.
inline constexpr const char* kDirectNoticeFile = "/gangrun/notice/notice.json";

// One run of a task's command where no agent is beside it.
struct DirectRun {
  int attempt = 0;  // of the task's runs; an event of another one is late
  int generation = 0;
  // Makes all that the command is to find. Asked when a run is to begin: of a large gang it would
  // be too much to be kept for every task, as each is told of all.
  std::function<std::map<std::string, std::string>()> environment;
};

// The command runs.
struct RunStarted {
  job::TaskId task;
  int attempt = 0;
  std::string host;
};

struct RunLine {
  job::TaskId task;
  std::string text;                      // without the line's end
  std::optional<base::WallTime> time{};  // as the place has it
};

// Worth telling the user; changes nothing.
struct RunWarning {
  std::string sentence;
};

// All lines of a run were told before its end.
using DirectEvent = std::variant<RunStarted, RunLine, job::Exited, RunWarning>;

// A place that runs the tasks' commands itself, with no agent of ours beside them: its addresses
// are known before anything runs, and the ends of the commands are what it tells of them. What
// start() asks for is a slot that costs nothing and is Allocated at once; run() fills it, again and
// again. A run that was lost by no fault of the command's (an eviction, a lost node) is told as
// job::AgentEnded, with that as its reason, and takes the slot with it; stop() ends slot and run.
class Direct : public Cluster {
 public:
  virtual void on_direct_event(std::function<void(DirectEvent)> listener) = 0;
  // The same for all runs of the task.
  [[nodiscard]] virtual job::Address address_of(const job::TaskId& task) const = 0;
  // Beside the port of the address, in the order of the job's names.
  [[nodiscard]] virtual std::vector<std::uint16_t> more_ports_of(const job::TaskId& task) const = 0;
  // Runs the task's command in its slot, once a run before it has ended.
  virtual void run(const job::TaskId& task, DirectRun run) = 0;
  // Ends the command (SIGTERM, after `grace` SIGKILL) and keeps the slot; job::Exited follows.
  virtual void end_run(const job::TaskId& task, std::chrono::milliseconds grace) = 0;
  // Tells the commands that run that their place may end them (`by`: "SIGUSR1"); how many it begins
  // to tell. Whom it cannot tell a RunWarning names.
  virtual int give_notice(const std::string& by) = 0;
  // What runs wait for that were asked for ("worker:3: 0/2 nodes are available: …"); empty:
  // nothing.
  [[nodiscard]] virtual std::string waiting_for() const = 0;
};

}  // namespace gangrun::cluster
