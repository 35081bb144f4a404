#include <memory>
#include <variant>

#include "base/format.h"
#include "base/strings.h"
#include "master/master_internal.h"

// Tasks that no agent is beside: what an agent would tell is made of what their place tells.
namespace gangrun::master {

// The address of a slot is known beforehand, so it reports as soon as it is there.
void Master::Impl::report_slot(const job::TaskId& task, int attempt) {
  const job::Address address = settings_.direct->address_of(task);
  facts_[task].more_ports = settings_.direct->more_ports_of(task);
  handle(gang::Reported{task, attempt, address},
         places_.reported(*gang_.find(task), address, std::nullopt));
}

void Master::Impl::run_direct(const gang::Start& decision) {
  const job::TaskId& task = decision.task;
  direct_runs_.forget(task);
  facts_[task].figures.clear();
  const DirectTask direct{task, settings_.direct->address_of(task),
                          settings_.direct->more_ports_of(task)};
  if (!direct_cluster_ || direct_cluster_->generation != gang_.cluster_spec().generation) {
    direct_cluster_ = std::make_shared<const job::ClusterSpec>(gang_.cluster_spec());
  }
  const auto make = [this, direct, cluster = direct_cluster_, restarts = gang_.restarts_used()] {
    return direct_variables(settings_.spec, settings_.job_id, *cluster, direct, restarts);
  };
  const auto variables = make();
  if (variables.ok()) {
    // What could be made once can be made again: of the same.
    return settings_.direct->run(task, {.attempt = decision.attempt,
                                        .generation = decision.generation,
                                        .environment = [make] { return *make(); }});
  }
  job::ExitReport report;
  report.could_not_start = true;
  report.sentence = base::format("could not be started: {}", variables.error().message);
  handle(gang::Exited{task, decision.attempt, std::move(report), clock_.now()});
}

void Master::Impl::on_direct(const cluster::DirectEvent& event) {
  if (const auto* started = std::get_if<cluster::RunStarted>(&event)) {
    direct_runs_.started(started->task, started->host);
    facts_[started->task].address_reason = base::format("its pod is on {}", started->host);
    handle(gang::Started{started->task, started->attempt});
  } else if (const auto* line = std::get_if<cluster::RunLine>(&event)) {
    direct_runs_.add(line->task, line->text);
    facts_[line->task].last_line = base::shorten(line->text, kMaxLastLineBytes);
    tell_line(line->task, false, line->text);
    const gang::Task& task = *gang_.find(line->task);
    const bool is_progress = task.policy == job::Policy::kObserver;
    if (is_progress) handle(gang::Progress{task.id, task.attempt});
  } else if (const auto* ended = std::get_if<cluster::RunEnded>(&event)) {
    handle(gang::Exited{ended->task, ended->attempt,
                        direct_runs_.completed(ended->task, ended->report), ended->at});
  } else if (const auto* warning = std::get_if<cluster::RunWarning>(&event)) {
    logger_.warning("{}", warning->sentence);
    listener_.on_warning(warning->sentence);
  }
}

}  // namespace gangrun::master
