#include <algorithm>
#include <utility>
#include <variant>

#include "agents/agents.h"
#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"
#include "cluster/task_files.h"
#include "job/json_text.h"
#include "wire/agent_questions.h"

// Events of agents come from the place that starts them, and from their sessions.
namespace gangrun::agents {

void Agents::on_starter(const cluster::LaunchEvent& event) {
  std::visit(base::Overloaded{
                 [this](const base::OneOf<gang::ClusterWaiting, gang::ClusterGone,
                                          gang::HostSilent> auto& told) { emit(told); },
                 [this](const base::OneOf<cluster::Remark, cluster::TasksWarning> auto& told) {
                   listener_(told);
                 },
                 [this](const auto& each) { on(each); },
             },
             event);
}

void Agents::on(const cluster::AgentAllocated& event) {
  emit(gang::Allocated{event.task, event.attempt, event.host},
       places_.started(event.task, event.attempt, event.handle));
}

void Agents::on(const cluster::PreemptionNotice& event) {
  if (coming_ends_.is_told(event.task, event.attempt)) return;
  facts_[event.task].preempted_at = event.deadline;
  if (event.loss) {
    logger_.warning("{} is being taken away: {}", job::to_string(event.task),
                    job::to_words(*event.loss));
    coming_ends_.note({event.task, event.attempt, *event.loss, clock_.now()});
  } else {
    logger_.warning("{} may be preempted", job::to_string(event.task));
  }
  tell_preemption(event.task);
}

void Agents::on(const cluster::LossesTold&) {
  for (const job::Exited& failure : failures_.look_ended()) tell_exit(failure);
  look_for_losses();
}

// A place that does not look has told all.
void Agents::look_for_losses() {
  if (!failures_.need_look()) return;
  failures_.look_begins();
  if (!starter_->look_for_losses()) on(cluster::LossesTold{});
}

void Agents::on(const job::AgentEnded& event) {
  if (coming_ends_.is_told(event.task, event.attempt)) return;
  coming_ends_.forget(event.task);
  tell_end(event);
}

void Agents::tell_end(job::AgentEnded event) {
  Facts& facts = facts_[event.task];
  const auto failure = event.attempt == facts.agent ? failures_.take(event.task) : std::nullopt;
  // One that is taken away has not failed by itself.
  if (failure && job::is_own_fault(event.why.reason)) tell_exit(*failure);
  // The end of one that was lost may come when the next one fetches already.
  if (event.attempt == facts.agent) forget_files(event);
  facts.preempted_at.reset();
  facts.run.reset();
  outputs_.forget(event.task);
  // Whoever looks for its outputs learns that they never came.
  if (std::exchange(facts.are_outputs_due, false)) {
    facts.told.lost_outputs = "its container ended before they were written";
  }
  emit(std::move(event));
}

void Agents::expect_files(const job::TaskId& task, int attempt) {
  Facts& facts = facts_[task];
  facts.agent = attempt;
  facts.held_report.reset();
  facts.lost_files.clear();
  files_.forget(task);
}

void Agents::forget_files(job::AgentEnded& event) {
  std::string lost = std::exchange(facts_[event.task].lost_files, {});
  expect_files(event.task, event.attempt);
  if (lost.empty()) return;
  event.why = {.reason = job::Reason::kCouldNotStart, .detail = std::move(lost)};
}

void Agents::on_agent(DeskEvent event) {
  std::visit([this](auto& each) { on(each); }, event);
}

void Agents::on(const PlaceReported& event) {
  cluster::TaskFacts& facts = facts_[event.task].told;
  facts.more_ports = event.more_ports;
  facts.address_reason = event.address_reason;
  tell_tokens(event.task);
  // A place that is reported without an agent fetches nothing.
  const bool is_held = event.pid != 0 && files_.is_awaited(event.task);
  if (is_held) {
    facts_[event.task].held_report = event;
  } else {
    tell_report(event);
  }
  begin_session(event.task);
}

void Agents::tell_report(const PlaceReported& event) {
  emit(gang::Reported{event.task, event.attempt, event.address},
       places_.reported(event.task, event.address, event.control));
}

FileSource::Callbacks Agents::file_callbacks() {
  return {.answer = [this](const auto& task,
                           auto answer) { server_.send_answer(task, std::move(answer)); },
          .on_progress =
              [this](const job::TaskId& task) {
                const auto& held = facts_[task].held_report;
                if (held) emit(gang::Progress{task, held->attempt});
              },
          .on_complete =
              [this](const job::TaskId& task) {
                const auto held = std::exchange(facts_[task].held_report, std::nullopt);
                if (held) tell_report(*held);
              },
          .on_failed =
              [this](const job::TaskId& task, const std::string& why) {
                logger_.warning("{} does not get its files: {}", job::to_string(task), why);
                facts_[task].lost_files =
                    base::shorten(base::format("files: {}", why), job::kMaxSentenceBytes);
              }};
}

void Agents::on(const AgentReattached& event) {
  Facts& facts = facts_[event.task];
  facts.told.more_ports = event.more_ports;
  facts.told.address_reason = event.address_reason;
  facts.run.reset();
  if (event.user_pid != 0) {
    begin_run(event.task, event.attempt);
    facts.told.pid = starter_->pid_here(event.task, event.user_pid);
  }
  tell_tokens(event.task);
  emit(gang::Reattached{event.task, event.attempt},
       places_.reported(event.task, event.address, event.control));
  begin_session(event.task);
}

// Its agent hears what was decided while it had none.
void Agents::begin_session(const job::TaskId& task) {
  if (!starter_->on_session_open(task)) (void)server_.send_end(task, kAtOnce);
  tell_preemption(task);
}

// Nothing is decided yet: who is told may save its work. Without a session it is told later.
void Agents::tell_preemption(const job::TaskId& task) {
  const auto& at = facts_[task].preempted_at;
  if (!at) return;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::max(*at - clock_.now(), base::Duration(0)));
  // If the session ends first, the next one begins with it.
  questions_.ask(task, cluster::notice_question({.left = left}), [](const auto&, const auto&) {});
}

// Before anything else: what the task is started with must be good.
void Agents::tell_tokens(const job::TaskId& task) {
  if (tokens_.empty()) return;
  cluster::Question question;
  question.kind = wire::kTokensKind;
  question.about = base::to_json(wire::Tokens{tokens_});
  questions_.ask(task, question, [this](const job::TaskId& told, const auto& said) {
    if (said.ok()) return;
    logger_.warning("{} has no new tokens: {}", job::to_string(told), said.error().message);
  });
}

void Agents::on(const ProcessStarted& event) {
  if (event.attempt > 1) results_.forget(event.task);
  outputs_.forget(event.task);
  begin_run(event.task, event.attempt);
  Facts& facts = facts_[event.task];
  facts.told.figures.clear();
  facts.told.lost_outputs.clear();
  facts.told.pid = starter_->pid_here(event.task, event.pid);
  emit(gang::Started{event.task, event.attempt});
}

void Agents::begin_run(const job::TaskId& task, int attempt) {
  const auto& named = options_.launch.spec.outputs_of(*options_.launch.spec.find(task.type));
  Facts& facts = facts_[task];
  facts.run = attempt;
  // Outputs of a run that was known before may have come already.
  if (std::exchange(facts.last_run, attempt) == attempt) return;
  facts.are_outputs_due = options_.keep_outputs && named && !named->empty();
}

void Agents::on_outputs_over(const job::TaskId& task, std::string lost) {
  Facts& facts = facts_[task];
  facts.are_outputs_due = false;
  facts.told.lost_outputs = base::shorten(lost, job::kMaxSentenceBytes);
}

void Agents::on(const job::Exited& event) {
  Facts& facts = facts_[event.task];
  facts.told.pid = 0;
  facts.told.memory_bytes = 0;
  facts.told.lost_outputs = event.report.lost_outputs;
  facts.run.reset();
  if (!facts.last_run) facts.last_run = event.attempt;
  // A master that takes them itself knows whether they have come: they may come when the end of the
  // run is told.
  const bool are_here = !options_.records.output_folder.empty();
  if (!are_here || !event.report.lost_outputs.empty()) facts.are_outputs_due = false;
  if (line_files_) {
    const auto missing =
        line_files_->missing(cluster::log_prefix(options_.launch.log_folder, event.task));
    if (missing) facts.told.incomplete_log = *missing;
  }
  const bool is_explained = facts.is_to_end || !coming_ends_.is_empty();
  if (is_explained || !ComingEnds::may_explain(event.report)) return tell_exit(event);
  failures_.hold(event);
  look_for_losses();
}

void Agents::tell_exit(const job::Exited& event) {
  for (const job::AgentEnded& end : coming_ends_.before(event.report)) tell_end(end);
  emit(event);
}

void Agents::on(const Heartbeat& event) {
  cluster::TaskFacts& facts = facts_[event.task].told;
  facts.memory_bytes = event.memory_bytes;
  facts.cpu_seconds = event.cpu_seconds;
  if (event.progress) emit(gang::Progress{event.task, event.attempt});
}

void Agents::on(const LogLines& event) {
  const bool is_error = event.stream == wire::Stream::kErr;
  Facts& facts = facts_[event.task];
  if (event.dropped > 0) {
    const std::string_view where =
        line_files_ ? "were too many for the connection" : "are only in the log file";
    keep_line(event.task, is_error, base::format("({} lines {})", event.dropped, where));
  }
  const auto lack = event.incomplete.empty()
                        ? std::nullopt
                        : facts.log_lacks.add(event.agent, event.incomplete, event.lost);
  if (lack) {
    keep_line(event.task, is_error, base::format("gangrun: the log is incomplete: {}", *lack));
    facts.told.incomplete_log = facts.log_lacks.words();
    listener_(cluster::IncompleteLog{event.task, *lack});
  }
  for (const std::string& line : event.lines) keep_line(event.task, is_error, line);
  if (event.lines.empty()) return;
  std::string_view last = event.lines.back();
  if (last.ends_with('\r')) last.remove_suffix(1);  // a progress bar
  facts.told.last_line = base::shorten(last, job::kMaxLastLineBytes);
}

void Agents::keep_line(const job::TaskId& task, bool is_error, const std::string& line) {
  const base::WallTime now = clock_.wall_now();
  if (options_.launch.lines == LinesFor::kClients) server_.add_line(task, is_error, line, now);
  if (!line_files_) return;
  const auto full =
      line_files_->add(cluster::log_prefix(options_.launch.log_folder, task), is_error, line, now);
  // Once for both files of a task.
  if (!full || std::exchange(facts_[task].told.incomplete_log, *full) == *full) return;
  listener_(cluster::IncompleteLog{task, *full});
}

void Agents::on(const PortLost& event) {
  job::ExitReport report;
  report.why.reason = job::Reason::kPortLost;
  report.port_lost = true;
  emit(job::Exited{event.task, event.attempt, report, clock_.now()});
}

void Agents::on(const SessionEnded& event) {
  questions_.on_session_lost(event.task);
  keys_.on_session_lost(event.task);
  starter_->on_session_lost(event.task, event.farewell);
  // Its place has told it to end, and tells when it has.
  if (coming_ends_.has(event.task)) return;
  emit(gang::SessionLost{event.task, event.attempt});
}

void Agents::on(FiguresTold& event) { facts_[event.task].told.figures = std::move(event.figures); }

void Agents::on(const AgentAsked& event) {
  if (event.question.kind == wire::kResultKind) {
    return results_.ask(event.task, facts_[event.task].run, event.question);
  }
  if (event.question.kind == wire::kOutputsKind) {
    return outputs_.ask(event.task, facts_[event.task].last_run, event.question);
  }
  if (event.question.kind == wire::kFilesKind) return files_.ask(event.task, event.question);
  if (keys_.ask(event.task, event.question)) return;
  server_.send_answer(event.task, {.id = event.question.id,
                                   .said = {},
                                   .refused = base::format("the master answers no question of the "
                                                           "kind {}",
                                                           base::printable(event.question.kind))});
}

void Agents::on(const Answered& event) { questions_.on_answer(event.task, event.answer); }

}  // namespace gangrun::agents
