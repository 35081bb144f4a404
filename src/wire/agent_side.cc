#include "wire/agent_side.h"

#include <algorithm>

#include "base/check.h"
#include "base/format.h"
#include "job/json_text.h"
#include "job/status.h"

namespace gangrun::wire {

namespace {

using std::chrono::milliseconds;

// From half of `pause` to all of it, another part for each task and try, so that ten thousand
// agents do not come back at the same moment.
base::Duration spread(base::Duration pause, const job::TaskId& task, unsigned tries) {
  constexpr std::size_t kSteps = 1000;
  const std::size_t part =
      std::hash<std::string>()(base::format("{} {}", job::to_string(task), tries)) % kSteps;
  return pause / 2 + pause / 2 * static_cast<int>(part) / static_cast<int>(kSteps);
}

}  // namespace

AgentSide::AgentSide(AgentIdentity identity, AgentSessionCallbacks callbacks,
                     AgentSideOutput& output)
    : identity_(std::move(identity)),
      callbacks_(std::move(callbacks)),
      output_(output),
      address_(identity_.address),
      more_ports_(identity_.more_ports) {}

void AgentSide::open(base::Instant now) {
  lease_end_ = now + identity_.first_contact;
  output_.connect();
}

void AgentSide::on_connected(base::Instant now) {
  if (over_) return;
  connected_ = true;
  welcome_by_ = now + kWelcomeTimeout;
  send_report(now);
}

void AgentSide::on_not_connected(const std::string& reason, bool is_refusal, base::Instant now) {
  if (over_) return;
  // Later on another program may have the master's port until the master is back.
  if (is_refusal && !welcomed_) return give_up(reason, callbacks_.on_refused);
  on_connection_lost(reason, now);
}

void AgentSide::connect_now(bool is_elsewhere) {
  if (over_ || (!is_elsewhere && !connect_at_)) return;
  disconnect();
  pause_.reset();
  output_.connect();
}

std::optional<base::Instant> AgentSide::next_deadline() const {
  std::optional<base::Instant> next;
  for (const auto& deadline : {connect_at_, welcome_by_, heartbeat_at_, lease_end_, flush_at_}) {
    if (deadline && (!next || *deadline < *next)) next = deadline;
  }
  return next;
}

// The lease comes first: what is due besides may come too late.
void AgentSide::on_time(base::Instant now) {
  const auto is_due = [&](std::optional<base::Instant>& deadline) {
    if (over_ || !deadline || *deadline > now) return false;
    deadline.reset();
    return true;
  };
  if (is_due(lease_end_)) {
    return give_up(base::format("no answer from the master for {} ({})",
                                base::to_words(welcomed_ ? base::Duration(master_lost_)
                                                         : base::Duration(identity_.first_contact)),
                                last_loss_.empty() ? "the connection is open" : last_loss_),
                   callbacks_.on_lost);
  }
  if (is_due(welcome_by_)) on_connection_lost("the master did not answer the report in time", now);
  if (is_due(connect_at_)) output_.connect();
  if (is_due(heartbeat_at_)) send_heartbeat(now);
  if (is_due(flush_at_)) flush_log(now);
}

void AgentSide::on_frame(std::string_view frame, base::Instant now) {
  if (over_) return;
  const auto message = decode_master_message(frame);
  if (!message.ok()) {
    return on_connection_lost("the master said: " + message.error().message, now);
  }
  on_message(*message, now);
}

void AgentSide::on_message(const MasterMessage& message, base::Instant now) {
  if (over_) return;
  std::visit([&](const auto& value) { handle(value, now); }, message);
}

void AgentSide::handle(const WelcomeMessage& message, base::Instant now) {
  if (attached_) return;
  attached_ = welcomed_ = true;
  welcome_by_.reset();
  pause_.reset();
  heartbeat_ = message.heartbeat;
  last_loss_.clear();
  master_lost_ = message.master_lost;
  lease_end_.reset();
  if (has_lease()) lease_end_ = reported_at_ + master_lost_;
  heartbeat_at_ = now + heartbeat_;
  // The connection before may have broken with it, and another master has not heard it.
  if (log_lack_ && std::ranges::none_of(lines_, &Line::is_of_log)) queue(*log_lack_, now);
  flush_log(now);
  if (callbacks_.on_attached) callbacks_.on_attached();
}

void AgentSide::handle(const AliveMessage&, base::Instant) {
  if (unanswered_.empty()) return;
  const base::Instant sent_at = unanswered_.front();
  unanswered_.pop_front();
  if (has_lease()) lease_end_ = sent_at + master_lost_;
}

void AgentSide::handle(const StartMessage& message, base::Instant) {
  const std::pair<int, int> start{message.attempt, message.cluster_spec.generation};
  if (start == last_start_ || state_ == AgentState::kStarting || state_ == AgentState::kRunning) {
    return;
  }
  last_start_ = start;
  // The master speaks of a new run, so it knows all about the one before.
  exit_is_known();
  state_ = AgentState::kStarting;
  run_attempt_ = message.attempt;
  generation_ = message.cluster_spec.generation;
  exit_.reset();
  const job::Address* in_spec = message.cluster_spec.find(identity_.task);
  if (in_spec != nullptr && *in_spec != held_address()) {
    port_lost();
    // The next master may not have heard of it, and send the same start.
    last_start_ = {0, 0};
    if (connected_) send_new_address();
    return callbacks_.on_outdated_spec();
  }
  callbacks_.on_start(message);
}

void AgentSide::handle(const AskMessage& message, base::Instant) {
  if (callbacks_.on_ask) return callbacks_.on_ask(message);
  answer({.id = message.id, .said = {}, .refused = "the agent answers no questions"});
}

void AgentSide::handle(const AnswerMessage& message, base::Instant) {
  if (callbacks_.on_answer) callbacks_.on_answer(message);
}

void AgentSide::handle(const StopMessage& message, base::Instant) {
  callbacks_.on_stop(message.grace);
}

void AgentSide::handle(const EndMessage& message, base::Instant) {
  callbacks_.on_end(message.grace);
}

void AgentSide::handle(const RefusedMessage& message, base::Instant now) {
  if (!message.retry) return give_up(message.reason, callbacks_.on_refused);
  on_connection_lost(message.reason, now);
}

void AgentSide::handle(const RendezvousAnswerMessage& message, base::Instant) {
  const bool is_current = state_ == AgentState::kRunning && message.attempt == run_attempt_;
  if (is_current && callbacks_.on_rendezvous) callbacks_.on_rendezvous(message);
}

template <typename Message>
void AgentSide::send_of_run(Message message) {
  if (!attached_ || state_ != AgentState::kRunning) return;
  message.attempt = run_attempt_;
  message.generation = generation_;
  send(std::move(message));
}

void AgentSide::rendezvous(RendezvousMessage message) { send_of_run(std::move(message)); }

void AgentSide::figures(job::Figures figures) {
  send_of_run(FiguresMessage{.figures = std::move(figures)});
}

void AgentSide::started(std::int64_t user_pid) {
  GANGRUN_CHECK(state_ == AgentState::kStarting, to_string(state_));
  state_ = AgentState::kRunning;
  user_pid_ = user_pid;
  send(StartedMessage{run_attempt_, generation_, user_pid});
}

void AgentSide::exited(job::ExitReport report, base::Instant ended_at, base::Instant now) {
  GANGRUN_CHECK(state_ == AgentState::kStarting || state_ == AgentState::kRunning,
                to_string(state_));
  flush_log(now, Flush::kAll);
  state_ = AgentState::kExited;
  user_pid_ = 0;
  exit_ = std::move(report);
  ended_at_ = ended_at;
  send(ExitedMessage{run_attempt_, generation_, past_exit(now)});
}

void AgentSide::port_lost() {
  const bool has_run = run_attempt_ > 0;
  send(PortLostMessage{has_run ? run_attempt_ : identity_.attempt, generation_});
  if (state_ != AgentState::kStarting) return;
  state_ = AgentState::kWaiting;
  run_attempt_ = generation_ = 0;
}

void AgentSide::set_address(const job::Address& address, std::vector<std::uint16_t> more_ports) {
  more_ports_ = std::move(more_ports);
  GANGRUN_CHECK(state_ == AgentState::kWaiting || state_ == AgentState::kExited, to_string(state_));
  if (state_ == AgentState::kExited) {
    moved_ = address;
  } else {
    address_ = address;
  }
  if (attached_) send_new_address();
}

void AgentSide::log(Stream stream, std::string_view line, base::Instant now) {
  if (identity_.sends_last_line_only) {
    last_line_ = {stream, job::json_text(line, job::kMaxLastLineBytes).get<std::string>()};
    return;
  }
  queue({stream, job::json_text(line, kMaxLogLineBytes).get<std::string>()}, now);
}

void AgentSide::incomplete_log(std::string_view why, std::uint64_t lost, base::Instant now) {
  const auto most = static_cast<std::uint64_t>(kMaxLostLines);
  log_lack_ = {.stream = Stream::kErr,
               .text = job::json_text(why, kMaxIncompleteLogBytes).get<std::string>(),
               .is_of_log = true,
               .lost = static_cast<std::int64_t>(std::min(lost, most))};
  queue(*log_lack_, now);
}

void AgentSide::queue(Line line, base::Instant now) {
  if (over_) return;
  lines_.push_back(std::move(line));
  line_bytes_ += lines_.back().text.size();
  while (lines_.size() > kMaxQueuedLogLines || line_bytes_ > kMaxQueuedLogBytes) {
    // Few, and nobody else tells it.
    const auto oldest = std::ranges::find(lines_, false, &Line::is_of_log);
    if (oldest == lines_.end()) break;
    ++dropped_[static_cast<std::size_t>(oldest->stream)];
    line_bytes_ -= oldest->text.size();
    lines_.erase(oldest);
  }
  if (attached_ && !flush_at_) flush_at_ = now + kLogDelay;
}

void AgentSide::finish(base::Instant now) {
  if (!over_) flush_log(now, Flush::kAll);
  over_ = true;
  connect_at_ = welcome_by_ = heartbeat_at_ = lease_end_ = flush_at_ = std::nullopt;
}

void AgentSide::send(const AgentMessage& message) {
  if (connected_) output_.send(encode(message));
}

void AgentSide::send_if_attached(const AgentMessage& message) {
  if (attached_ && !over_) send(message);
}

void AgentSide::send_report(base::Instant now) {
  reported_at_ = now;
  ReportMessage report = report_at(address_);
  report.state = state_;
  report.run_attempt = run_attempt_;
  report.generation = generation_;
  report.user_pid = user_pid_;
  if (state_ == AgentState::kExited) report.exit = past_exit(now);
  send(report);
  if (moved_) send_new_address();
}

PastExit AgentSide::past_exit(base::Instant now) const {
  const auto ago = std::chrono::duration_cast<milliseconds>(now - ended_at_);
  return PastExit{*exit_, std::clamp(ago, milliseconds(0), kMaxEndedAgo)};
}

void AgentSide::send_new_address() { send(report_at(held_address())); }

ReportMessage AgentSide::report_at(const job::Address& address) const {
  return {.task = identity_.task,
          .attempt = identity_.attempt,
          .address = address,
          .pid = identity_.pid,
          .more_ports = more_ports_,
          .address_reason = identity_.address_reason,
          .control = identity_.control};
}

void AgentSide::send_heartbeat(base::Instant now) {
  if (unanswered_.size() >= kMaxUnansweredHeartbeats) {
    // Without a lease only the end of the connection says that the master is gone.
    if (master_lost_.count() > 0) {
      return on_connection_lost("the master stopped answering", now);
    }
  } else {
    // A slow connection is for heartbeats alone.
    const bool keeps_up = unanswered_.empty();
    unanswered_.push_back(now);
    send(callbacks_.on_heartbeat());
    if (keeps_up) send_last_line();
  }
  heartbeat_at_ = now + heartbeat_;
}

// A report of the present state has no need to tell of the exit again, once the port has changed.
void AgentSide::exit_is_known() {
  if (state_ != AgentState::kExited || !moved_) return;
  address_ = *std::exchange(moved_, std::nullopt);
  state_ = AgentState::kWaiting;
  run_attempt_ = generation_ = 0;
  exit_.reset();
}

void AgentSide::disconnect() {
  attached_ = connected_ = false;
  output_.disconnect();
  connect_at_ = welcome_by_ = heartbeat_at_ = flush_at_ = std::nullopt;
  unanswered_.clear();
}

void AgentSide::on_connection_lost(const std::string& reason, base::Instant now) {
  if (over_) return;
  disconnect();
  last_loss_ = reason;
  if (!has_lease()) return give_up(reason, callbacks_.on_lost);
  connect_at_ = now + spread(pause_.next(), identity_.task, tries_++);
}

void AgentSide::give_up(const std::string& reason,
                        const std::function<void(const std::string&)>& callback) {
  over_ = true;
  disconnect();
  lease_end_.reset();
  callback(reason);
}

void AgentSide::send_last_line() {
  if (!attached_ || !last_line_) return;
  const auto line = std::exchange(last_line_, std::nullopt);
  send(LogMessage{.stream = line->stream, .lines = {line->text}});
}

void AgentSide::flush_log(base::Instant now, Flush what) {
  if (!attached_) return;
  if (what == Flush::kAll) send_last_line();
  while (!lines_.empty()) {
    if (what == Flush::kAsFarAsRoom && output_.unsent_bytes() > kMaxUnsentBytes) {
      flush_at_ = now + kLogDelay;
      return;
    }
    send(next_log_message());
  }
}

// The next lines of one stream, as many as a message may carry.
LogMessage AgentSide::next_log_message() {
  LogMessage message;
  message.stream = lines_.front().stream;
  if (lines_.front().is_of_log) {
    line_bytes_ -= lines_.front().text.size();
    message.incomplete = std::move(lines_.front().text);
    message.lost = lines_.front().lost;
    lines_.pop_front();
    return message;
  }
  message.dropped = std::exchange(dropped_[static_cast<std::size_t>(message.stream)], 0);
  std::size_t bytes = 0;
  while (!lines_.empty() && lines_.front().stream == message.stream && !lines_.front().is_of_log &&
         message.lines.size() < kMaxLinesOfLogMessage &&
         bytes + lines_.front().text.size() <= kMaxBytesOfLogMessage) {
    bytes += lines_.front().text.size();
    line_bytes_ -= lines_.front().text.size();
    message.lines.push_back(std::move(lines_.front().text));
    lines_.pop_front();
  }
  return message;
}

}  // namespace gangrun::wire
