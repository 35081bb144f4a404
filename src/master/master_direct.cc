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
  const auto make = [this, direct, cluster = direct_cluster_, restarts = decision.restarts] {
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
  report.why = {.reason = job::Reason::kCouldNotStart, .detail = variables.error().message};
  handle(job::Exited{task, decision.attempt, std::move(report), clock_.now()});
}

void Master::Impl::on_direct(const cluster::DirectEvent& event) {
  std::visit([this](const auto& each) { on_run(each); }, event);
}

void Master::Impl::on_run(const cluster::RunStarted& event) {
  direct_runs_.started(event.task, event.host);
  facts_[event.task].address_reason = base::format("its pod is on {}", event.host);
  handle(gang::Started{event.task, event.attempt});
}

void Master::Impl::on_run(const cluster::RunLine& event) {
  direct_runs_.add(event.task, event.text);
  facts_[event.task].last_line = base::shorten(event.text, registry::kMaxLastLineBytes);
  tell_line(event.task, false, event.text, event.time);
  const gang::Task& task = *gang_.find(event.task);
  if (task.policy == job::Policy::kObserver) handle(gang::Progress{task.id, task.attempt});
}

void Master::Impl::on_run(const job::Exited& event) {
  handle(job::Exited{event.task, event.attempt, direct_runs_.completed(event.task, event.report),
                     event.ended_at});
}

void Master::Impl::on_run(const cluster::RunWarning& event) {
  logger_.warning("{}", event.sentence);
  listener_.on_warning(event.sentence);
}

}  // namespace gangrun::master
