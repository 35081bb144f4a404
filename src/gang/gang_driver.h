#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/format.h"
#include "base/overloaded.h"
#include "gang/gang.h"
#include "job/spec.h"

// For the tests of this room: drives a gang by events and writes its decisions as short text.
namespace gangrun::gang {

inline constexpr std::chrono::milliseconds kStopTimeout{30'000};

inline job::TaskSpec task_type(const std::string& type, int instances = 1,
                               std::chrono::milliseconds grace = std::chrono::milliseconds(0)) {
  job::TaskSpec task;
  task.type = type;
  task.instances = instances;
  task.policy = job::default_policy(type);
  task.grace = grace;
  return task;
}

// A type that may have fewer tasks, or has spares.
inline job::TaskSpec elastic_type(const std::string& type, int instances, int needed,
                                  int spares = 0) {
  job::TaskSpec task = task_type(type, instances);
  if (needed < instances) task.min_instances = needed;
  task.spares = spares;
  return task;
}

// Without a pause before a restart.
inline job::Restarts at_once(int max, job::RestartScope scope) {
  const std::chrono::milliseconds none(0);
  return {max, scope, none, none};
}

inline job::JobSpec job_of(std::vector<job::TaskSpec> tasks) {
  job::JobSpec spec;
  spec.name = "driven";
  spec.tasks = std::move(tasks);
  spec.success = "all";
  spec.timeouts.stop = kStopTimeout;
  spec.restarts = at_once(0, job::RestartScope::kTask);
  return spec;
}

// "worker:1" is written w1, and w1#2 in its second attempt.
inline std::string short_name(const job::TaskId& task, int attempt) {
  std::string name = base::format("{}{}", task.type.front(), task.index);
  if (attempt != 1) name += base::format("#{}", attempt);
  return name;
}

// "allocate c0 w0 w1; publish 1; start c0 w0 w1@1; end w0/30 w1/0; kill w1; warn; finish failed".
// Decisions of the same kind in a row are put together.
inline std::string text_of(const std::vector<Decision>& decisions) {
  std::string text;
  std::string last;
  const auto add = [&](const std::string& kind, const std::string& what) {
    if (kind != last) text += text.empty() ? kind : "; " + kind;
    if (!what.empty()) text += " " + what;
    last = kind;
  };
  for (const Decision& decision : decisions) {
    std::visit(base::Overloaded{
                   [&](const Allocate& d) { add("allocate", short_name(d.task, d.attempt)); },
                   [&](const Publish& d) { add("publish", base::format("{}", d.spec.generation)); },
                   [&](const Start& d) {
                     add(base::format("start@{}", d.generation), short_name(d.task, d.attempt));
                   },
                   [&](const Stop& d) { add("stop", short_name(d.task, d.attempt)); },
                   [&](const End& d) {
                     const bool at_once = d.grace.count() == 0;
                     add(at_once ? "end-at-once" : "end", short_name(d.task, d.attempt));
                   },
                   [&](const Kill& d) { add("kill", short_name(d.task, d.attempt)); },
                   [&](const Warn&) { add("warn", ""); },
                   [&](const Finish& d) { add("finish", std::string(job::to_string(d.state))); },
               },
               decision);
  }
  return text;
}

// One event, and what was decided of it.
struct Step {
  base::Instant at;
  Event event;
  std::vector<Decision> decisions;
};

class Driver {
 public:
  explicit Driver(job::JobSpec spec, Gang::Limits limits = {})
      : spec_(std::move(spec)), gang_(spec_, limits), now_(base::Duration(1'000'000'000)) {}

  // Handles one event; what was decided is in decisions(), and returned as text.
  std::string step(const Event& event) {
    decisions_ = gang_.step(event, now_);
    steps_.push_back({now_, event, decisions_});
    return text_of(decisions_);
  }
  void pass(std::chrono::nanoseconds time) { now_ += time; }
  // To the next deadline, where the gang is told that time has passed.
  std::string expire() {
    const auto deadline = gang_.next_deadline();
    if (deadline && *deadline > now_) now_ = *deadline;
    return step(TimePassed{});
  }

  std::string allocated(const job::TaskId& task) {
    return step(Allocated{task, gang_.find(task)->attempt, host_of(task)});
  }
  std::string reported(const job::TaskId& task) { return reported(task, address_of(task)); }
  std::string reported(const job::TaskId& task, const job::Address& address) {
    return step(Reported{task, gang_.find(task)->attempt, address});
  }
  std::string started(const job::TaskId& task) {
    return step(Started{task, gang_.find(task)->attempt});
  }
  std::string exited(const job::TaskId& task, int status) {
    job::ExitReport report;
    report.success = status == 0;
    report.why.code = status;
    if (status != 0) report.why.reason = job::Reason::kExitStatus;
    return step(job::Exited{task, gang_.find(task)->attempt, report, now_});
  }
  std::string port_lost(const job::TaskId& task) {
    job::ExitReport report;
    report.why.reason = job::Reason::kPortLost;
    report.port_lost = true;
    return step(job::Exited{task, gang_.find(task)->attempt, report, now_});
  }
  std::string session_lost(const job::TaskId& task) {
    return step(SessionLost{task, gang_.find(task)->attempt});
  }
  std::string reattached(const job::TaskId& task) {
    return step(Reattached{task, gang_.find(task)->attempt});
  }
  std::string agent_ended(const job::TaskId& task, bool counts = true) {
    return step(job::AgentEnded{task, gang_.find(task)->allocated_attempt,
                                counts ? job::Why{.reason = job::Reason::kAgentEnded, .signal = 9}
                                       : job::Why{.reason = job::Reason::kLostNode},
                                now_});
  }
  // The host of the task's agent, if the cluster has more than one.
  std::string reported_on(const job::TaskId& task, const std::string& host) {
    step(Allocated{task, gang_.find(task)->attempt, host});
    return reported(task, {host, address_of(task).port});
  }
  // Every agent that was asked to end has ended.
  std::string all_gone() {
    std::string text;
    for (const Task& task : std::vector<Task>(gang_.tasks())) {
      if (task.phase == Phase::kEnding) text = agent_ended(task.id);
    }
    return text;
  }
  // Begins, and brings every task to kRegistered; the last report publishes.
  std::string roll_call() {
    step(Begin{});
    std::string text;
    for (const Task& task : std::vector<Task>(gang_.tasks())) {
      allocated(task.id);
      const std::string decided = reported(task.id);
      if (!decided.empty()) text = decided;
    }
    return text;
  }
  // To the moment when every task runs.
  void run_all() {
    roll_call();
    for (const Task& task : std::vector<Task>(gang_.tasks())) {
      if (task.phase == Phase::kStarting) started(task.id);
    }
  }

  [[nodiscard]] static std::string host_of(const job::TaskId& task) {
    return base::format("host-{}", task.type);
  }
  [[nodiscard]] static job::Address address_of(const job::TaskId& task) {
    return {host_of(task), static_cast<std::uint16_t>(40'000 + task.index)};
  }
  [[nodiscard]] const job::JobSpec& spec() const { return spec_; }
  [[nodiscard]] Gang& gang() { return gang_; }
  [[nodiscard]] base::Instant now() const { return now_; }
  [[nodiscard]] const std::vector<Decision>& decisions() const { return decisions_; }
  // All so far, in their order.
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] Phase phase(const job::TaskId& task) const { return gang_.find(task)->phase; }
  // All that the last step warned of.
  [[nodiscard]] std::vector<std::string> warnings() const {
    std::vector<std::string> sentences;
    for (const Decision& decision : decisions_) {
      if (const auto* warning = std::get_if<Warn>(&decision))
        sentences.push_back(to_words(warning->warning));
    }
    return sentences;
  }
  // The last request for a place; there must be one.
  [[nodiscard]] Allocate asked() const {
    for (auto decision = decisions_.rbegin(); decision != decisions_.rend(); ++decision) {
      if (const auto* asked = std::get_if<Allocate>(&*decision)) return *asked;
    }
    return {};
  }
  // "w0 w4 w2": the members of a type in the order of their places.
  [[nodiscard]] std::string members(const std::string& type) const {
    const job::ClusterSpec& spec = gang_.cluster_spec();
    std::vector<std::string> names(spec.tasks.at(type).size());
    for (const Task& task : gang_.tasks()) {
      const auto place = spec.place_of(task.id);
      if (place && task.id.type == type)
        names.at(static_cast<std::size_t>(*place)) = short_name(task.id, 1);
    }
    return base::format("{}", base::join(names, " "));
  }
  // The warnings of the last step, or the cause with which it finished.
  [[nodiscard]] std::string warning() const {
    for (const Decision& decision : decisions_) {
      if (const auto* warning = std::get_if<Warn>(&decision)) return to_words(warning->warning);
    }
    return "";
  }
  [[nodiscard]] std::string cause() const {
    const job::Cause* cause = told_cause();
    return cause == nullptr ? "" : to_words(*cause);
  }
  [[nodiscard]] job::Reason reason() const {
    const job::Cause* cause = told_cause();
    return cause == nullptr ? job::Reason::kUnknown : cause->why.reason;
  }
  [[nodiscard]] job::Reason exit_reason(const job::TaskId& task) const {
    const auto& exit = gang_.find(task)->exit;
    return exit ? exit->reason : job::Reason::kUnknown;
  }

 private:
  [[nodiscard]] const job::Cause* told_cause() const {
    for (const Decision& decision : decisions_) {
      const auto* finish = std::get_if<Finish>(&decision);
      if (finish != nullptr && finish->cause) return &*finish->cause;
    }
    return nullptr;
  }

  job::JobSpec spec_;
  Gang gang_;
  base::Instant now_;
  std::vector<Decision> decisions_;
  std::vector<Step> steps_;
};

// A gang whose tasks have all started.
inline Driver running(const job::JobSpec& spec, Gang::Limits limits = {}) {
  Driver driver(spec, limits);
  driver.run_all();
  return driver;
}

}  // namespace gangrun::gang
