#include "kubernetes/pods/pod_runs.h"

#include <utility>

#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"
#include "cluster/task_files.h"
#include "kubernetes/pods/pod_variables.h"

namespace gangrun::kubernetes::pods {

PodRuns::PodRuns(const Manifests& manifests, const std::string& log_folder, base::Logger& logger)
    : manifests_(manifests),
      log_folder_(log_folder),
      files_(logger, cluster::line_limit(manifests.input().spec)) {}

void PodRuns::adopt(const cluster::Left& left) {
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
  // Variables that could be made once can be made again: of the same.
  return PodRun{.attempt = decision.attempt,
                .generation = decision.generation,
                .environment = [make] { return *make(); }};
}

std::vector<cluster::TasksEvent> PodRuns::told(const cluster::Event& event) {
  return std::visit(
      base::Overloaded{
          [this](const cluster::Allocated& slot) -> std::vector<cluster::TasksEvent> {
            tasks_[slot.task].facts.more_ports = manifests_.more_ports_of(slot.task);
            return {cluster::Happened{gang::Allocated{slot.task, slot.attempt, slot.host},
                                      cluster::Whereabouts{slot.task, slot.attempt, slot.handle}},
                    cluster::Happened{
                        gang::Reported{slot.task, slot.attempt, manifests_.address_of(slot.task)}}};
          },
          [](const cluster::Remark& remark) -> std::vector<cluster::TasksEvent> {
            return {remark};
          },
          // Nobody tells of pods that they may be preempted.
          [](const cluster::PreemptionNotice&) -> std::vector<cluster::TasksEvent> { return {}; },
          [](const auto& each) -> std::vector<cluster::TasksEvent> {
            return {cluster::Happened{each}};
          },
      },
      event);
}

std::vector<cluster::TasksEvent> PodRuns::told(const RunEvent& event) {
  return std::visit(
      base::Overloaded{
          [this](const RunLine& line) { return told(line); },
          [](const cluster::TasksWarning& warning) -> std::vector<cluster::TasksEvent> {
            return {warning};
          },
          [this](const auto& each) -> std::vector<cluster::TasksEvent> { return {told(each)}; },
      },
      event);
}

cluster::TasksEvent PodRuns::told(const RunStarted& event) {
  cluster::TaskFacts& facts = tasks_[event.task].facts;
  facts.host = event.host;
  facts.address_reason = base::format("its pod is on {}", event.host);
  return cluster::Happened{gang::Started{event.task, event.attempt}};
}

std::vector<cluster::TasksEvent> PodRuns::told(const RunLine& event) {
  Task& task = tasks_[event.task];
  last_lines_.add(event.task, event.text);
  task.facts.last_line = base::shorten(event.text, job::kMaxLastLineBytes);
  const job::JobSpec& spec = manifests_.input().spec;
  std::vector<cluster::TasksEvent> events;
  const auto full = files_.add(cluster::log_prefix(log_folder_, event.task), false, event.text,
                               event.time.value_or(base::SystemClock().wall_now()));
  if (full) {
    task.facts.incomplete_log = *full;
    events.emplace_back(cluster::IncompleteLog{event.task, *full});
  }
  const bool is_observer =
      job::effective_policy(spec, *spec.find(event.task.type)) == job::Policy::kObserver;
  if (is_observer) events.emplace_back(cluster::Happened{gang::Progress{event.task, task.attempt}});
  return events;
}

cluster::TasksEvent PodRuns::told(const job::Exited& event) {
  const auto missing = files_.missing(cluster::log_prefix(log_folder_, event.task));
  if (missing) tasks_[event.task].facts.incomplete_log = *missing;
  job::Exited told = event;
  if (!told.report.success) {
    told.report = last_lines_.completed(event.task, std::move(told.report));
    told.report.why.host = tasks_[event.task].facts.host;
  }
  return cluster::Happened{std::move(told)};
}

const cluster::TaskFacts* PodRuns::facts(const job::TaskId& task) const {
  const auto found = tasks_.find(task);
  return found == tasks_.end() ? nullptr : &found->second.facts;
}

}  // namespace gangrun::kubernetes::pods
