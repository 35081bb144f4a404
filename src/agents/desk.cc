#include "agents/desk.h"

#include <algorithm>

#include "base/check.h"
#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"

// The decisions about agents and their sessions.
//
// A session is opened, and has to report in time. A report is accepted from the agent that the
// master expects for the task (expect), once at a time (objection_to); all else is refused, and the
// agent is told whether it may come again. An accepted session waits, starts, runs and has ended,
// in this order, and falls back to waiting by a new address or a lost port: each message is checked
// against that phase, the attempt and the generation of its session (is_current), because it may be
// late. What is told twice, over two sessions or to two masters, becomes one event: the desk keeps,
// for each task, the last attempt whose start and end it has told.
//
// The end of a session is the loss of it, and not of the task: the same agent may report again
// (attach). Whoever is silent for longer than its patience is closed. When the master itself has
// stood still, all get their whole time again, as their heartbeats may lie unread (on_time).
namespace gangrun::agents {

namespace {

constexpr std::size_t kMaxLoggedBytes = 300;

// Fit for one line of a log, whatever a peer put into it.
std::string one_line(std::string_view text) {
  std::string line = base::shorten(text, kMaxLoggedBytes);
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return line;
}

constexpr std::chrono::milliseconds kShortestHeartbeat = std::chrono::seconds(1);
constexpr int kMaxHeartbeatsPerSecond = 2000;
constexpr int kHeartbeatsInALease = 10;

// Whether a session may begin with it.
bool may_open(const wire::AgentMessage& message) {
  return std::visit(
      base::Overloaded{
          [](const wire::ReportMessage&) { return true; },
          [](const base::OneOf<wire::StartedMessage, wire::ExitedMessage, wire::HeartbeatMessage,
                               wire::LogMessage, wire::PortLostMessage, wire::FiguresMessage,
                               wire::RendezvousMessage, wire::AskMessage,
                               wire::AnswerMessage> auto&) { return false; },
      },
      message);
}

}  // namespace

std::chrono::milliseconds heartbeat_of(int sessions, std::chrono::milliseconds master_lost) {
  const std::chrono::milliseconds affordable(std::int64_t{1000} * sessions /
                                             kMaxHeartbeatsPerSecond);
  const bool has_lease = master_lost.count() > 0;
  const auto longest = has_lease ? master_lost / kHeartbeatsInALease : affordable;
  return std::max(kShortestHeartbeat, std::min(affordable, longest));
}

Desk::Desk(DeskOptions options, DeskOutput& output, base::Logger& logger)
    : options_(options), output_(output), logger_(logger) {
  GANGRUN_CHECK(options.heartbeat.count() > 0, options.heartbeat.count());
}

void Desk::expect(const job::TaskId& task, int attempt) {
  Expected& expected = expected_[task];
  if (expected.agent_attempt == attempt) return;
  GANGRUN_CHECK(attempt > expected.attempt, job::to_string(task), attempt, expected.attempt);
  const std::optional<wire::SessionId> former = expected.session;
  expected = Expected{};
  expected.agent_attempt = expected.attempt = attempt;
  if (former) refuse(*former, base::format("attempt {} takes its place", attempt), false);
}

void Desk::set_attempt(const job::TaskId& task, int current) {
  const auto found = expected_.find(task);
  GANGRUN_CHECK(found != expected_.end(), job::to_string(task), current);
  found->second.attempt = std::max(found->second.attempt, current);
}

void Desk::set_generation(int newest) {
  if (newest <= newest_generation_) return;
  newest_generation_ = newest;
  rendezvous_.clear();
}

void Desk::on_opened(wire::SessionId session, base::Instant now) {
  const auto [entry, inserted] = sessions_.try_emplace(session);
  GANGRUN_CHECK(inserted, session);
  set_deadline(session, entry->second, now + patience(entry->second));
}

void Desk::on_frame(wire::SessionId id, std::string_view frame, base::Instant now) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  Session& session = found->second;
  auto message = wire::decode_agent_message(frame);
  const bool opened = session.phase == Phase::kOpened;
  if (!message.ok()) {
    log_once(Offence::kMalformed, opened ? "" : job::to_string(session.task),
             message.error().message);
    if (opened) refuse(id, message.error().message, false);
    return;
  }
  if (opened && !may_open(*message)) {
    log_once(Offence::kUnexpected, "", "a session must begin with a report");
    refuse(id, "a session must begin with a report", false);
    return;
  }
  if (!opened) set_deadline(id, session, now + patience(session));
  std::visit([&](auto& value) { handle(id, session, value, now); }, *message);
}

void Desk::on_closed(wire::SessionId session, std::optional<std::string> farewell) {
  auto lost = remove(session);
  if (!lost) return;
  lost->farewell = std::move(farewell);
  output_.event(*std::move(lost));
}

std::optional<base::Instant> Desk::next_deadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first;
}

void Desk::on_time(base::Instant now) {
  const bool stood_still = !deadlines_.empty() && now - deadlines_.begin()->first > kMaxLateness;
  if (stood_still) {
    for (auto& [id, session] : sessions_) {
      if (session.deadline <= now) set_deadline(id, session, now + patience(session));
    }
  }
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const wire::SessionId id = deadlines_.begin()->second;
    auto lost = remove(id);
    const std::string_view reason = lost ? "no heartbeat for too long" : "did not report in time";
    log_once(Offence::kSilent, lost ? job::to_string(lost->task) : "", reason);
    output_.close(id, reason);
    if (lost) output_.event(*std::move(lost));
  }
}

void Desk::handle(wire::SessionId id, Session& session, const wire::ReportMessage& message,
                  base::Instant now) {
  if (session.phase == Phase::kOpened) {
    first_report(id, session, message, now);
  } else {
    new_address(session, message);
  }
}

std::optional<Desk::Objection> Desk::objection_to(const wire::ReportMessage& message) const {
  const auto found = expected_.find(message.task);
  if (found == expected_.end()) return Objection{Offence::kUnknown, "the job has no such task"};
  const Expected& expected = found->second;
  if (message.attempt != expected.agent_attempt) {
    return Objection{message.attempt < expected.agent_attempt ? Offence::kLate : Offence::kUnknown,
                     base::format("an agent for attempt {} reports, one for {} is expected",
                                  message.attempt, expected.agent_attempt)};
  }
  if (expected.session) {
    return Objection{Offence::kDuplicate, "the task has an open session already", true};
  }
  if (expected.by_rest) {
    return Objection{Offence::kDuplicate, "the task has been reported without an agent"};
  }
  if (message.generation > newest_generation_) {
    return Objection{Offence::kGeneration,
                     base::format("generation {} is unknown, the newest is {}", message.generation,
                                  newest_generation_)};
  }
  const bool runs =
      message.state == wire::AgentState::kStarting || message.state == wire::AgentState::kRunning;
  if (message.run_attempt > expected.attempt || (runs && message.run_attempt < expected.attempt)) {
    return Objection{message.run_attempt < expected.attempt ? Offence::kLate : Offence::kUnknown,
                     base::format("attempt {} is reported, attempt {} is the current one",
                                  message.run_attempt, expected.attempt)};
  }
  return std::nullopt;
}

void Desk::first_report(wire::SessionId id, Session& session, const wire::ReportMessage& message,
                        base::Instant now) {
  if (auto objection = objection_to(message)) {
    log_once(objection->offence, job::to_string(message.task), objection->reason);
    return refuse(id, objection->reason, objection->retry);
  }
  attach(id, session, message, now);
}

void Desk::attach(wire::SessionId id, Session& session, const wire::ReportMessage& message,
                  base::Instant now) {
  Expected& expected = expected_.at(message.task);
  const bool has_run = message.state != wire::AgentState::kWaiting;
  const bool known = expected.address.has_value() || has_run;
  const bool moved = !has_run && expected.address != message.address;
  const int current = expected.attempt;
  expected.address = message.address;
  expected.control = message.control;
  expected.session = id;
  session.task = message.task;
  session.attempt = has_run ? message.run_attempt : message.attempt;
  session.generation = message.generation;
  switch (message.state) {
    case wire::AgentState::kWaiting: session.phase = Phase::kWaiting; break;
    case wire::AgentState::kStarting: session.phase = Phase::kStarting; break;
    case wire::AgentState::kRunning: session.phase = Phase::kRunning; break;
    case wire::AgentState::kExited: session.phase = Phase::kEnded; break;
  }
  session.renewed_at = now;
  set_deadline(id, session, now + patience(session));
  send(id, wire::WelcomeMessage{options_.heartbeat, options_.master_lost});
  const bool is_current = has_run && message.run_attempt == current;
  if (known) {
    output_.event(AgentReattached{message.task, current, message.address, message.pid,
                                  is_current ? message.state : wire::AgentState::kWaiting,
                                  is_current ? message.generation : 0, message.user_pid,
                                  message.more_ports, message.address_reason, message.control});
  }
  if (moved) {
    output_.event(PlaceReported{message.task, current, message.address, message.pid,
                                message.more_ports, message.address_reason, message.control});
  }
  if (!is_current) return;
  if (message.state == wire::AgentState::kRunning) {
    tell_started(ProcessStarted{message.task, current, message.generation, message.user_pid});
  } else if (message.exit) {
    tell_exited(job::Exited{message.task, current, message.exit->report, now - message.exit->ago});
  }
}

void Desk::tell_started(ProcessStarted event) {
  Expected& expected = expected_.at(event.task);
  if (event.attempt != expected.attempt || expected.started_attempt >= event.attempt) return;
  expected.started_attempt = event.attempt;
  output_.event(std::move(event));
}

void Desk::tell_exited(job::Exited event) {
  Expected& expected = expected_.at(event.task);
  if (event.attempt != expected.attempt || expected.exited_attempt >= event.attempt) return;
  expected.exited_attempt = event.attempt;
  output_.event(std::move(event));
}

void Desk::new_address(Session& session, const wire::ReportMessage& message) {
  const std::string who = job::to_string(session.task);
  Expected& expected = expected_.at(session.task);
  if (message.task != session.task || message.attempt != expected.agent_attempt) {
    return log_once(Offence::kUnexpected, who, "reports as another task or attempt");
  }
  if (message.state != wire::AgentState::kWaiting || session.phase == Phase::kStarting ||
      session.phase == Phase::kRunning) {
    return log_once(Offence::kUnexpected, who, "reports again while it runs");
  }
  if (expected.address == message.address) {
    return log_once(Offence::kDuplicate, who, "reports the same address again");
  }
  expected.address = message.address;
  session.phase = Phase::kWaiting;
  session.attempt = message.attempt;
  session.generation = 0;
  session.port_lost = false;
  output_.event(PlaceReported{message.task, expected.attempt, message.address, message.pid,
                              message.more_ports, message.address_reason, message.control});
}

bool Desk::is_current(const Session& session, std::string_view what, int attempt, int generation) {
  if (attempt != session.attempt) {
    log_once(Offence::kLate, job::to_string(session.task),
             base::format("{} of attempt {}, which is attempt {}", what, attempt, session.attempt));
    return false;
  }
  if (generation != session.generation) {
    log_once(
        Offence::kGeneration, job::to_string(session.task),
        base::format("{} of generation {} instead of {}", what, generation, session.generation));
    return false;
  }
  return true;
}

void Desk::handle(wire::SessionId, Session& session, const wire::StartedMessage& message,
                  base::Instant) {
  if (!is_current(session, "started", message.attempt, message.generation)) return;
  if (session.phase != Phase::kStarting) {
    return log_once(Offence::kUnexpected, job::to_string(session.task),
                    "started without being told to");
  }
  session.phase = Phase::kRunning;
  tell_started(ProcessStarted{session.task, session.attempt, message.generation, message.pid});
}

void Desk::handle(wire::SessionId, Session& session, const wire::ExitedMessage& message,
                  base::Instant now) {
  if (!is_current(session, "exited", message.attempt, message.generation)) return;
  if (session.phase != Phase::kStarting && session.phase != Phase::kRunning) {
    return log_once(Offence::kUnexpected, job::to_string(session.task), "exited without a run");
  }
  session.phase = Phase::kEnded;
  tell_exited(
      job::Exited{session.task, session.attempt, message.exit.report, now - message.exit.ago});
}

void Desk::handle(wire::SessionId id, Session& session, const wire::HeartbeatMessage& message,
                  base::Instant now) {
  session.renewed_at = now;
  Heartbeat event{session.task, expected_.at(session.task).attempt, message.memory_bytes,
                  message.cpu_seconds, message.progress};
  send(id, wire::AliveMessage{});
  output_.event(std::move(event));
}

void Desk::handle(wire::SessionId, Session& session, wire::LogMessage& message, base::Instant) {
  const Expected& expected = expected_.at(session.task);
  output_.event(LogLines{session.task, expected.attempt, message.stream, std::move(message.lines),
                         message.dropped, std::move(message.incomplete), message.lost,
                         expected.agent_attempt});
}

void Desk::handle(wire::SessionId, Session& session, const wire::PortLostMessage& message,
                  base::Instant) {
  if (!is_current(session, "port_lost", message.attempt, message.generation)) return;
  if (session.port_lost) {
    return log_once(Offence::kDuplicate, job::to_string(session.task),
                    "reports the same lost port again");
  }
  session.port_lost = true;
  // Nothing was started on a lost port: the task waits for the next generation.
  if (session.phase == Phase::kStarting) session.phase = Phase::kWaiting;
  // Whatever is reported next is a place, even the one that was reported before the start.
  expected_.at(session.task).address.reset();
  output_.event(PortLost{session.task, expected_.at(session.task).attempt, message.generation});
}

bool Desk::is_running(const Session& session, std::string_view what, int attempt, int generation) {
  if (!is_current(session, what, attempt, generation)) return false;
  if (session.phase == Phase::kRunning) return true;
  log_once(Offence::kUnexpected, job::to_string(session.task),
           base::format("{} without a run", what));
  return false;
}

void Desk::handle(wire::SessionId, Session& session, wire::FiguresMessage& message, base::Instant) {
  if (!is_running(session, "figures", message.attempt, message.generation)) return;
  output_.event(FiguresTold{session.task, message.attempt, std::move(message.figures)});
}

base::Result<> Desk::report_place(const job::TaskId& task, int attempt,
                                  const job::Address& address) {
  const std::string who = job::to_string(task);
  const auto found = expected_.find(task);
  if (found == expected_.end()) {
    log_once(Offence::kUnknown, who, "the job has no such task");
    return base::not_found(base::format("the job has no task {}", who));
  }
  Expected& expected = found->second;
  if (attempt != expected.agent_attempt) {
    const std::string reason = base::format("attempt {} of {} reports, attempt {} is expected",
                                            attempt, who, expected.agent_attempt);
    log_once(Offence::kLate, who, reason);
    return base::Error{base::Code::kFailedPrecondition, reason};
  }
  if (expected.address) {
    log_once(Offence::kDuplicate, who, "reports again");
    return base::Error{base::Code::kAlreadyExists,
                       base::format("attempt {} of {} has reported already", attempt, who)};
  }
  expected.address = address;
  expected.by_rest = true;
  output_.event(PlaceReported{task, expected.attempt, address, 0});
  return {};
}

bool Desk::send_start(const job::TaskId& task, int attempt, int restarts, Starts& starts) {
  const int generation = starts.generation();
  set_generation(generation);
  set_attempt(task, attempt);
  GANGRUN_CHECK(expected_.at(task).attempt == attempt, job::to_string(task), attempt);
  const auto [id, session] = session_of(task);
  if (session == nullptr) return false;
  const bool has_it = session->phase != Phase::kWaiting && session->attempt == attempt &&
                      session->generation == generation;
  if (has_it) return true;
  rendezvous_.forget_owner(task);
  session->attempt = attempt;
  session->phase = Phase::kStarting;
  session->generation = generation;
  session->port_lost = false;
  output_.send(id, starts.message_for(task, attempt, restarts));
  return true;
}

void Desk::send(wire::SessionId id, const wire::MasterMessage& message) {
  output_.send(id, std::make_shared<const std::string>(encode(message)));
}

bool Desk::send_stop(const job::TaskId& task, std::chrono::milliseconds grace) {
  const auto [id, session] = session_of(task);
  if (session == nullptr) return false;
  const int current = expected_.at(task).attempt;
  const bool has_ended = session->phase == Phase::kEnded && session->attempt < current;
  if (session->phase == Phase::kWaiting || has_ended) {
    // Its start was lost with another session: the run is over before it began.
    job::ExitReport report;
    report.why = job::not_begun();
    tell_exited(job::Exited{task, current, report, session->renewed_at});
    return true;
  }
  send(id, wire::StopMessage{grace});
  return true;
}

bool Desk::send_end(const job::TaskId& task, std::chrono::milliseconds grace) {
  const auto [id, session] = session_of(task);
  if (session == nullptr) return false;
  send(id, wire::EndMessage{grace});
  return true;
}

std::optional<KnownPlace> Desk::place(const job::TaskId& task) const {
  const auto found = expected_.find(task);
  if (found == expected_.end()) return std::nullopt;
  const Expected& expected = found->second;
  return KnownPlace{expected.attempt, expected.address, expected.session.has_value(),
                    expected.by_rest, expected.control};
}

base::Duration Desk::patience(const Session& session) const {
  if (session.phase == Phase::kOpened) return kReportTimeout;
  return options_.heartbeat * kMissedHeartbeats;
}

void Desk::set_deadline(wire::SessionId id, Session& session, base::Instant deadline) {
  deadlines_.erase({session.deadline, id});
  session.deadline = deadline;
  deadlines_.emplace(deadline, id);
}

void Desk::refuse(wire::SessionId id, const std::string& reason, bool retry) {
  remove(id);
  send(id, wire::RefusedMessage{reason, retry});
  output_.close(id, reason);
}

std::optional<SessionEnded> Desk::remove(wire::SessionId id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return std::nullopt;
  const Session session = std::move(found->second);
  deadlines_.erase({session.deadline, id});
  sessions_.erase(found);
  rendezvous_.forget_readers(id);
  if (session.phase == Phase::kOpened) return std::nullopt;
  const auto expected = expected_.find(session.task);
  if (expected == expected_.end() || expected->second.session != id) return std::nullopt;
  expected->second.session.reset();
  return SessionEnded{session.task, expected->second.attempt, session.renewed_at, {}};
}

std::pair<wire::SessionId, Desk::Session*> Desk::session_of(const job::TaskId& task) {
  const auto found = expected_.find(task);
  if (found == expected_.end() || !found->second.session) return {0, nullptr};
  return {*found->second.session, &sessions_.at(*found->second.session)};
}

void Desk::log_once(Offence offence, const std::string& who, std::string_view what) {
  if (logged_.size() >= kMaxLoggedOffences || !logged_.emplace(offence, who).second) return;
  logger_.warning("registry: {}: {}", who.empty() ? "a session" : who, one_line(what));
}

}  // namespace gangrun::agents
