#include "kubernetes/pods/pod_runs.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "cluster/task_files.h"
#include "process/output.h"

namespace gangrun::kubernetes::pods {

void LastLines::add(const std::string& line) {
  lines_.push_back(line);
  bytes_ += line.size();
  while (lines_.size() > process::kMaxTracebackLines || bytes_ > process::kMaxTracebackBytes) {
    bytes_ -= lines_.front().size();
    lines_.pop_front();
  }
}

job::ExitReport LastLines::completed(job::ExitReport report) const {
  if (lines_.empty()) return report;
  const std::vector<std::string> lines(lines_.begin(), lines_.end());
  report.has_both_streams = true;
  report.traceback = process::python_traceback(lines).value_or("");
  const std::size_t shown = std::min<std::size_t>(lines.size(), job::kLastLines);
  report.last_lines.assign(lines.end() - static_cast<std::ptrdiff_t>(shown), lines.end());
  return report;
}

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
  tasks_[task].last_lines = {};
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

PodRuns::Events PodRuns::events_of(const cluster::AgentAllocated& slot) {
  tasks_[slot.task].facts.more_ports = manifests_.more_ports_of(slot.task);
  return {
      cluster::Happened{gang::Allocated{slot.task, slot.attempt, slot.host},
                        cluster::Whereabouts{slot.task, slot.attempt, slot.handle}},
      cluster::Happened{gang::Reported{slot.task, slot.attempt, manifests_.address_of(slot.task)}}};
}

PodRuns::Events PodRuns::events_of(const RunStarted& event) {
  cluster::TaskFacts& facts = tasks_[event.task].facts;
  facts.host = event.host;
  facts.address_reason = base::format("its pod is on {}", event.host);
  return {cluster::Happened{gang::Started{event.task, event.attempt}}};
}

PodRuns::Events PodRuns::events_of(const RunLine& event) {
  Task& task = tasks_[event.task];
  task.last_lines.add(event.text);
  task.facts.last_line = base::shorten(event.text, job::kMaxLastLineBytes);
  const job::JobSpec& spec = manifests_.input().spec;
  Events events;
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

PodRuns::Events PodRuns::events_of(const job::Exited& event) {
  Task& task = tasks_[event.task];
  const auto missing = files_.missing(cluster::log_prefix(log_folder_, event.task));
  if (missing) task.facts.incomplete_log = *missing;
  job::Exited told = event;
  if (!told.report.success) {
    told.report = task.last_lines.completed(std::move(told.report));
    told.report.why.host = task.facts.host;
  }
  return {cluster::Happened{std::move(told)}};
}

const cluster::TaskFacts* PodRuns::facts(const job::TaskId& task) const {
  const auto found = tasks_.find(task);
  return found == tasks_.end() ? nullptr : &found->second.facts;
}

}  // namespace gangrun::kubernetes::pods
