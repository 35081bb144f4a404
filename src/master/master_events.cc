#include <utility>
#include <variant>

#include "base/format.h"
#include "base/strings.h"
#include "master/agent_launch.h"
#include "master/master_internal.h"

// What the cluster and the agents tell, on its way to the gang.
namespace gangrun::master {

void Master::Impl::on_cluster(const cluster::Event& event) {
  std::visit([this](const auto& each) { on(each); }, event);
}

void Master::Impl::on(const cluster::Waiting& event) { handle(gang::ClusterWaiting{event.reason}); }

void Master::Impl::on(const cluster::Allocated& event) {
  handle(gang::Allocated{event.task, event.attempt, event.host},
         places_.started(event.task, event.attempt, event.handle));
  if (settings_.direct != nullptr) report_slot(event.task, event.attempt);
}

void Master::Impl::on(const cluster::PreemptionNotice& event) {
  logger_.warning("{} may be preempted", job::to_string(event.task));
  facts_[event.task].preempted_at = event.deadline;
  tell_notice(event.task);
}

void Master::Impl::on(const job::AgentEnded& event) {
  facts_[event.task].preempted_at.reset();
  note_lost_outputs(event.task);
  if (event.run)
    handle(job::Exited{event.task, event.run->attempt, event.run->report, event.ended_at});
  handle(event);
}

// Whoever looks for them learns that they never came.
void Master::Impl::note_lost_outputs(const job::TaskId& task) {
  const auto& named = settings_.spec.outputs_of(*settings_.spec.find(task.type));
  const bool had_begun = std::exchange(facts_[task].has_begun, false);
  if (!settings_.agents_keep_outputs || !had_begun || !named || named->empty()) return;
  facts_[task].lost_outputs = "its container ended before they were written";
}

void Master::Impl::on(const cluster::Gone& event) {
  handle(gang::ClusterGone{event.detail, event.reason});
}

void Master::Impl::on(const cluster::HostSilent& event) {
  handle(gang::HostSilent{event.host, event.tasks});
}

void Master::Impl::on(const cluster::Remark& event) {
  logger_.info("{}", event.sentence);
  if (remarks_.size() < kMaxRemarks) remarks_.push_back(event.sentence);
  listener_.on_remark(event.sentence);
}

// Nothing is decided yet: who is told may save its work. Without a session it is told later.
void Master::Impl::tell_notice(const job::TaskId& task) {
  const auto left = time_to_preemption(facts_[task], clock_.now());
  if (left) (void)server_.send_notice(task, *left);
}

int Master::Impl::give_notice(const std::string& by) {
  if (settings_.direct != nullptr) {
    const int asked = settings_.direct->give_notice(by);
    logger_.info("{}: notice goes to {}", by, base::count_text(asked, "task"));
    return asked;
  }
  int told = 0;
  for (const gang::Task& task : gang_.tasks()) {
    const bool runs = task.phase == gang::Phase::kStarting || task.phase == gang::Phase::kRunning;
    if (runs && server_.send_notice(task.id, std::nullopt)) ++told;
  }
  logger_.info("{}: notice was given to {}", by, base::count_text(told, "task"));
  return told;
}

void Master::Impl::on_desk(registry::DeskEvent event) {
  std::visit([this](auto& e) { on(e); }, event);
}

void Master::Impl::on(const registry::Reported& event) {
  if (settings_.joining != nullptr) settings_.joining->on_session_open(event.task);
  facts_[event.task].more_ports = event.more_ports;
  facts_[event.task].address_reason = event.address_reason;
  handle(gang::Reported{event.task, event.attempt, event.address},
         places_.reported(*gang_.find(event.task), event.address, event.control));
  end_if_given_up(event.task);
  tell_notice(event.task);
}

// What comes by itself may come when it has been given up for lost: nobody else can tell it so.
void Master::Impl::end_if_given_up(const job::TaskId& task) {
  const bool is_late = gang_.find(task)->phase == gang::Phase::kGone;
  if (settings_.joining != nullptr && is_late) (void)server_.send_end(task, kAtOnce);
}

void Master::Impl::on(const registry::Reattached& event) {
  facts_[event.task].more_ports = event.more_ports;
  facts_[event.task].address_reason = event.address_reason;
  facts_[event.task].has_begun = event.user_pid != 0;
  if (event.user_pid != 0) facts_[event.task].pid = cluster_.pid_here(event.task, event.user_pid);
  if (settings_.joining != nullptr) settings_.joining->on_session_open(event.task);
  handle(gang::Reattached{event.task, event.attempt},
         places_.reported(*gang_.find(event.task), event.address, event.control));
  end_if_given_up(event.task);
  tell_notice(event.task);
}

void Master::Impl::on(const registry::Started& event) {
  if (event.attempt > 1) results_.forget(event.task);
  facts_[event.task].figures.clear();
  facts_[event.task].lost_outputs.clear();
  facts_[event.task].has_begun = true;
  facts_[event.task].pid = cluster_.pid_here(event.task, event.pid);
  handle(gang::Started{event.task, event.attempt});
}

void Master::Impl::on(const job::Exited& event) {
  facts_[event.task].pid = 0;
  facts_[event.task].memory_bytes = 0;
  facts_[event.task].lost_outputs = event.report.lost_outputs;
  facts_[event.task].has_begun = false;
  handle(event);
}

void Master::Impl::on(const registry::Heartbeat& event) {
  TaskFacts& facts = facts_[event.task];
  facts.memory_bytes = event.memory_bytes;
  facts.cpu_seconds = event.cpu_seconds;
  if (event.progress) handle(gang::Progress{event.task, event.attempt});
}

void Master::Impl::on(registry::LogLines& event) {
  const bool is_error = event.stream == registry::Stream::kErr;
  if (event.dropped > 0) {
    const std::string_view where =
        line_files_ ? "were too many for the connection" : "are only in the log file";
    tell_line(event.task, is_error, base::format("({} lines {})", event.dropped, where));
  }
  if (!event.incomplete.empty()) {
    tell_line(event.task, is_error,
              base::format("gangrun: the log is incomplete: {}", event.incomplete));
    listener_.on_incomplete_log(event.task, event.incomplete);
    facts_[event.task].incomplete_log = event.incomplete;
  }
  for (const std::string& line : event.lines) tell_line(event.task, is_error, line);
  if (!event.lines.empty()) {
    std::string_view last = event.lines.back();
    if (last.ends_with('\r')) last.remove_suffix(1);  // a progress bar
    facts_[event.task].last_line = base::shorten(last, registry::kMaxLastLineBytes);
  }
}

void Master::Impl::tell_line(const job::TaskId& task, bool is_error, const std::string& line,
                             std::optional<base::WallTime> time) {
  const base::WallTime written = time.value_or(clock_.wall_now());
  if (settings_.keeps_lines) server_.add_line(task, is_error, line, written);
  if (line_files_) line_files_->add(log_prefix_of(settings_, task), is_error, line, written);
}

void Master::Impl::on(const registry::PortLost& event) {
  job::ExitReport report;
  report.why.reason = job::Reason::kPortLost;
  report.port_lost = true;
  handle(job::Exited{event.task, event.attempt, report, clock_.now()});
}

void Master::Impl::on(const registry::SessionLost& event) {
  if (settings_.joining != nullptr) {
    settings_.joining->on_session_lost(event.task, event.farewell);
  }
  handle(gang::SessionLost{event.task, event.attempt});
}

void Master::Impl::on(registry::FiguresTold& event) {
  facts_[event.task].figures = std::move(event.figures);
}

void Master::Impl::on(const registry::ResultPart& event) {
  results_.add(event, [this, task = event.task](registry::ResultKeptMessage answer) {
    server_.send_result_kept(task, std::move(answer));
  });
}

// Whoever comes late is told why nobody waits for it.
registry::JoinAnswer Master::Impl::on_join(const registry::JoinRequest& request) {
  const job::JobState state = gang_.state();
  if (state != job::JobState::kStopping && !job::is_final(state)) {
    return settings_.joining->join(request);
  }
  std::string reason = base::format("the job has {}", state == job::JobState::kStopping
                                                          ? std::string_view("begun to stop")
                                                          : job::to_string(state));
  const auto cause = gang_.first_cause();
  if (cause) reason += base::format(": {}", job::to_words(*cause));
  return {registry::JoinState::kJobHasEnded, {}, std::move(reason)};
}

}  // namespace gangrun::master
