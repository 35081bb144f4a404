#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/described.h"
#include "base/json.h"
#include "cluster/question.h"
#include "gang/decision.h"
#include "gang/event.h"
#include "job/cluster_spec.h"
#include "job/task_id.h"
#include "job/why.h"

namespace gangrun::cluster {

// The place of a task's agent or slot, for a next master of the job: journalled, so it holds no
// secret.
struct Whereabouts {
  job::TaskId task;
  int attempt = 0;  // with which it was requested
  base::Json handle;
};

// The member of a handle that names the task's container, where its place has one.
struct NamedContainer {
  std::string container;

  static constexpr bool kIsOpen = true;
  GANGRUN_ROWS(NamedContainer, container);
};

// Something that the gang decides on.
struct Happened {
  gang::Event event;
  std::optional<Whereabouts> whereabouts{};  // to be recorded before the event
};

// Lines of a task's output are missing where its output is kept, and why.
struct IncompleteLog {
  job::TaskId task;
  std::string what;
};

// Worth telling the user: something is wrong, and the job goes on.
struct TasksWarning {
  std::string sentence;
};

// A fact about the job at this place, beside its tasks, that the user is to know: nothing is wrong.
struct Remark {
  std::string sentence;
};

using TasksEvent = std::variant<Happened, IncompleteLog, TasksWarning, Remark>;

// Facts of a task that the gang does not need to know, and people want to see.
struct TaskFacts {
  std::int64_t pid = 0;
  std::int64_t memory_bytes = 0;
  double cpu_seconds = 0;
  std::string host;  // where its run is; empty: where its address says
  std::string last_line;
  std::string incomplete_log;             // as job::TaskStatus has it
  std::string lost_outputs;               // likewise
  std::vector<std::uint16_t> more_ports;  // beside that of its address
  std::string address_reason;
  job::Figures figures;
};

// A task that an earlier master of the job has left.
struct Left {
  job::TaskId task;
  int allocated_attempt = 1;  // with which its agent or slot was requested
  int attempt = 1;            // of its current run
  bool has_reported = false;
  base::Json handle;  // see Whereabouts; null: not known
};

// A task that has no other run in its generation: nobody there need wait for it.
struct OutOfGeneration {
  job::TaskId task;
  int generation = 0;
  std::optional<job::Why> failure{};  // none: it has succeeded
};

// Runs the tasks of one job, as its master sees it: by agents beside them, or by a place that runs
// the commands itself. It is told the gang's decisions, and tells the gang's events. Called on the
// loop's thread only. An event may come from inside a call.
class Tasks {
 public:
  virtual ~Tasks() = default;
  // Before anything else is called.
  virtual void on_event(std::function<void(TasksEvent)> listener) = 0;

  // See the decisions' own words. Each start() is answered by exactly one job::AgentEnded, in the
  // end. `spec` is the cluster spec of the decision's generation; the same object for all its runs.
  virtual void start(const gang::Allocate& decision) = 0;
  virtual void run(const gang::Start& decision,
                   const std::shared_ptr<const job::ClusterSpec>& spec) = 0;
  virtual void stop(const gang::Stop& decision) = 0;
  virtual void end(const gang::End& decision) = 0;
  virtual void kill(const gang::Kill& decision) = 0;

  // Takes over what an earlier master has left: as if this object had started it. All else that
  // there is of the job is ended.
  virtual void resume(const std::vector<Left>& tasks) = 0;

  // Asks these tasks, which run. `on_answer` is called once for each, here or later from the loop,
  // and not long after the question's limit; an error says why there is no answer.
  virtual void ask(const std::vector<job::TaskId>& tasks, const Question& question,
                   const OnTaskAnswer& on_answer) = 0;

  // Not a decision: what waits for the task in this generation waits in vain. May be told again.
  virtual void note(const OutOfGeneration& /*news*/) {}

  // Whoever waits for the end of the job wants it at once: what does not answer now is told as
  // silent soon.
  virtual void hurry() {}
  // The job has ended, and nothing of it runs: brings what its tasks have written to a folder that
  // goes with the job, and calls `done`, here or later from the loop. No second time.
  virtual void settle(std::function<void()> done) { done(); }
  // Nobody waits for settle() any longer: what was not brought stays where it is, and `done` is
  // called.
  virtual void cut_short() {}

  // Says in words what the job waits for; `of_gang` is what the gang says, which may be empty: more
  // is known here.
  [[nodiscard]] virtual std::string waiting_for(std::string of_gang) const { return of_gang; }
  // Null where nothing is known of the task yet. Good until the next event.
  [[nodiscard]] virtual const TaskFacts* facts(const job::TaskId& task) const = 0;
  // As its place calls what the task runs in (YARN's container); empty: it has no name there.
  [[nodiscard]] virtual std::string place_name(const job::TaskId& /*task*/) const { return {}; }
};

}  // namespace gangrun::cluster
