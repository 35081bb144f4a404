#include "cluster/kubernetes/pod_runs.h"

#include <utility>

#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"
#include "cluster/kubernetes/pod_variables.h"
#include "cluster/task_files.h"

namespace gangrun::cluster {

PodRuns::PodRuns(const Manifests& manifests, const std::string& log_folder, base::Logger& logger)
    : manifests_(manifests), log_folder_(log_folder), files_(logger) {}

void PodRuns::adopt(const Left& left) {
  tasks_[left.task].attempt = left.attempt;
  tasks_[left.task].facts.more_ports = manifests_.more_ports_of(left.task);
}

base::Result<PodRun> PodRuns::begin(const gang::Start& decision,
                                    const std::shared_ptr<const job::ClusterSpec>& spec) {
  const job::TaskId& task = decision.task;
  last_lines_.forget(task);
  tasks_[task].attempt = decision.attempt;
  tasks_[task].facts.host.clear();
  const auto make = [this, task, spec, restarts = decision.restarts] {
    return pod_variables(manifests_, *spec, task, restarts);
  };
  const auto variables = make();
  if (!variables.ok()) return variables.error();
  // What could be made once can be made again: of the same.
  return PodRun{.attempt = decision.attempt,
                .generation = decision.generation,
                .environment = [make] { return *make(); }};
}

std::vector<TasksEvent> PodRuns::told(const Event& event) {
  return std::visit(
      base::Overloaded{
          [this](const Allocated& slot) -> std::vector<TasksEvent> {
            tasks_[slot.task].facts.more_ports = manifests_.more_ports_of(slot.task);
            return {Happened{gang::Allocated{slot.task, slot.attempt, slot.host},
                             Whereabouts{slot.task, slot.attempt, slot.handle}},
                    Happened{
                        gang::Reported{slot.task, slot.attempt, manifests_.address_of(slot.task)}}};
          },
          [](const Remark& remark) -> std::vector<TasksEvent> { return {remark}; },
          // Nobody tells of pods that they may be preempted.
          [](const PreemptionNotice&) -> std::vector<TasksEvent> { return {}; },
          [](const auto& each) -> std::vector<TasksEvent> { return {Happened{each}}; },
      },
      event);
}

std::vector<TasksEvent> PodRuns::told(const RunEvent& event) {
  return std::visit(
      base::Overloaded{
          [this](const RunLine& line) { return told(line); },
          [](const TasksWarning& warning) -> std::vector<TasksEvent> { return {warning}; },
          [this](const auto& each) -> std::vector<TasksEvent> { return {told(each)}; },
      },
      event);
}

TasksEvent PodRuns::told(const RunStarted& event) {
  TaskFacts& facts = tasks_[event.task].facts;
  facts.host = event.host;
  facts.address_reason = base::format("its pod is on {}", event.host);
  return Happened{gang::Started{event.task, event.attempt}};
}

std::vector<TasksEvent> PodRuns::told(const RunLine& event) {
  Task& task = tasks_[event.task];
  last_lines_.add(event.task, event.text);
  task.facts.last_line = base::shorten(event.text, job::kMaxLastLineBytes);
  files_.add(log_prefix(log_folder_, event.task), false, event.text,
             event.time.value_or(base::SystemClock().wall_now()));
  const job::JobSpec& spec = manifests_.input().spec;
  const bool is_observer =
      job::effective_policy(spec, *spec.find(event.task.type)) == job::Policy::kObserver;
  if (!is_observer) return {};
  return {Happened{gang::Progress{event.task, task.attempt}}};
}

TasksEvent PodRuns::told(const job::Exited& event) {
  job::Exited told = event;
  if (!told.report.success) {
    told.report = last_lines_.completed(event.task, std::move(told.report));
    told.report.why.host = tasks_[event.task].facts.host;
  }
  return Happened{std::move(told)};
}

const TaskFacts* PodRuns::facts(const job::TaskId& task) const {
  const auto found = tasks_.find(task);
  return found == tasks_.end() ? nullptr : &found->second.facts;
}

std::optional<std::string> PodRuns::lost_lines() const {
  if (files_.lost_lines() == 0) return std::nullopt;
  return files_.words_for_lost_lines();
}

}  // namespace gangrun::cluster
