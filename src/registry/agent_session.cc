#include "registry/agent_session.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "job/json_text.h"
#include "registry/paths.h"

namespace gangrun::registry {

namespace {

using std::chrono::milliseconds;

net::ChannelOptions channel_options() {
  net::ChannelOptions options;
  options.max_message_bytes = kMaxMasterMessageBytes;
  // Silence is judged by the lease.
  options.idle_timeout = std::chrono::hours(24);
  return options;
}

// From half of `pause` to all of it, another part for each task and try, so that ten thousand
// agents do not come back at the same moment.
milliseconds spread(milliseconds pause, const job::TaskId& task, unsigned tries) {
  constexpr std::size_t kSteps = 1000;
  const std::size_t part =
      std::hash<std::string>()(base::format("{} {}", job::to_string(task), tries)) % kSteps;
  return pause / 2 + pause / 2 * static_cast<int>(part) / static_cast<int>(kSteps);
}

}  // namespace

AgentSession::AgentSession(net::EventLoop& loop, net::Endpoint endpoint, base::Secret secret,
                           AgentIdentity identity, AgentSessionCallbacks callbacks)
    : loop_(loop),
      endpoint_(std::move(endpoint)),
      secret_(std::move(secret)),
      identity_(std::move(identity)),
      callbacks_(std::move(callbacks)),
      address_(identity_.address) {}

void AgentSession::open() {
  lease_end_ = loop_.now() + kFirstContactTimeout;
  watch_lease();
  connect();
}

void AgentSession::connect() {
  const base::Instant deadline = loop_.now() + kConnectTimeout;
  connecting_ = net::connect_channel(
      loop_, endpoint_, std::string(kAgentPath),
      net::Headers{{"Authorization", "Bearer " + secret_.reveal()}}, deadline,
      [this](base::Result<std::unique_ptr<net::Channel>> channel) {
        on_connected(std::move(channel));
      },
      channel_options());
}

void AgentSession::on_connected(base::Result<std::unique_ptr<net::Channel>> channel) {
  connecting_.reset();
  if (!channel.ok()) {
    const base::Error& error = channel.error();
    const bool hopeless =
        error.code == base::Code::kUnauthenticated || error.code == base::Code::kPermissionDenied;
    // Later on another program may have the master's port until the master is back.
    if (hopeless && !welcomed_) return give_up(error.message, callbacks_.on_refused);
    return on_connection_lost(error.message);
  }
  channel_ = *std::move(channel);
  channel_->on_closed([this](const base::Error& reason) { on_connection_lost(reason.message); });
  send_report();
  channel_->on_message([this](std::string_view frame) { on_message(frame); });
  welcome_timer_ = loop_.after(kWelcomeTimeout, [this] {
    on_connection_lost("the master did not answer the report in time");
  });
}

void AgentSession::on_message(std::string_view frame) {
  if (over_) return;
  const auto message = decode_master_message(frame);
  if (!message.ok()) return on_connection_lost("the master said: " + message.error().message);
  std::visit([this](const auto& value) { handle(value); }, *message);
}

void AgentSession::handle(const WelcomeMessage& message) {
  if (attached_) return;
  attached_ = welcomed_ = true;
  welcome_timer_.reset();
  pause_ = kFirstPause;
  heartbeat_ = message.heartbeat;
  master_lost_ = message.master_lost;
  renew_lease(reported_at_);
  if (reported_exit_) exit_is_known();
  heartbeat_timer_ = loop_.after(heartbeat_, [this] { send_heartbeat(); });
  flush_log();
}

void AgentSession::handle(const AliveMessage&) {
  if (unanswered_.empty()) return;
  const SentHeartbeat answered = unanswered_.front();
  unanswered_.pop_front();
  renew_lease(answered.at);
  if (answered.confirms_exit) exit_is_known();
}

void AgentSession::handle(const StartMessage& message) {
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
    if (channel_) send_new_address();
    return callbacks_.on_outdated_spec();
  }
  callbacks_.on_start(message);
}

void AgentSession::handle(const StopMessage& message) { callbacks_.on_stop(message.grace); }

void AgentSession::handle(const EndMessage& message) { callbacks_.on_end(message.grace); }

void AgentSession::handle(const RefusedMessage& message) {
  if (!message.retry) return give_up(message.reason, callbacks_.on_refused);
  on_connection_lost(message.reason);
}

void AgentSession::started(std::int64_t user_pid) {
  GANGRUN_CHECK(state_ == AgentState::kStarting, to_string(state_));
  state_ = AgentState::kRunning;
  user_pid_ = user_pid;
  send(StartedMessage{run_attempt_, generation_, user_pid});
}

void AgentSession::exited(job::ExitReport report) {
  GANGRUN_CHECK(state_ == AgentState::kStarting || state_ == AgentState::kRunning,
                to_string(state_));
  flush_log();
  state_ = AgentState::kExited;
  user_pid_ = 0;
  exit_ = std::move(report);
  ended_at_ = loop_.now();
  send(ExitedMessage{run_attempt_, generation_, Ending{*exit_, milliseconds(0)}});
}

void AgentSession::port_lost() {
  const bool has_run = run_attempt_ > 0;
  send(PortLostMessage{has_run ? run_attempt_ : identity_.attempt, generation_});
  if (state_ != AgentState::kStarting) return;
  state_ = AgentState::kWaiting;
  run_attempt_ = generation_ = 0;
}

void AgentSession::set_address(const job::Address& address) {
  GANGRUN_CHECK(state_ == AgentState::kWaiting || state_ == AgentState::kExited, to_string(state_));
  if (state_ == AgentState::kExited) {
    moved_ = address;
  } else {
    address_ = address;
  }
  if (attached_) send_new_address();
}

void AgentSession::log(Stream stream, std::string_view line) {
  if (over_) return;
  lines_.push_back(Line{stream, job::json_text(line, kMaxLogLineBytes).get<std::string>()});
  line_bytes_ += lines_.back().text.size();
  while (lines_.size() > kMaxQueuedLogLines || line_bytes_ > kMaxQueuedLogBytes) {
    ++dropped_[static_cast<std::size_t>(lines_.front().stream)];
    line_bytes_ -= lines_.front().text.size();
    lines_.pop_front();
  }
  if (attached_ && !log_timer_.pending()) {
    log_timer_ = loop_.after(kLogDelay, [this] { flush_log(); });
  }
}

void AgentSession::finish(std::function<void()> done) {
  if (!over_) flush_log();
  over_ = true;
  connecting_.reset();
  pause_timer_.reset();
  welcome_timer_.reset();
  heartbeat_timer_.reset();
  lease_timer_.reset();
  log_timer_.reset();
  if (!channel_) {
    done_timer_ = loop_.after(base::Duration(0), std::move(done));
    return;
  }
  channel_->on_closed([done = std::move(done)](const base::Error&) { done(); });
  channel_->close("done");
}

void AgentSession::send(const AgentMessage& message) {
  if (channel_) channel_->send(encode(message));
}

void AgentSession::send_report() {
  reported_at_ = loop_.now();
  reported_exit_ = state_ == AgentState::kExited;
  ReportMessage report{
      identity_.task, identity_.attempt, address_, identity_.pid, state_, run_attempt_,
      generation_,    user_pid_,         {}};
  if (state_ == AgentState::kExited) {
    const auto ago = std::chrono::duration_cast<milliseconds>(reported_at_ - ended_at_);
    report.exit = Ending{*exit_, std::clamp(ago, milliseconds(0), kMaxEndedAgo)};
  }
  send(report);
  if (moved_) send_new_address();
}

void AgentSession::send_new_address() {
  send(ReportMessage{identity_.task,
                     identity_.attempt,
                     held_address(),
                     identity_.pid,
                     AgentState::kWaiting,
                     0,
                     0,
                     0,
                     {}});
}

void AgentSession::send_heartbeat() {
  if (unanswered_.size() >= kMaxUnansweredHeartbeats) {
    // Without a lease only the end of the connection says that the master is gone.
    if (master_lost_.count() > 0) {
      return on_connection_lost("the master did not answer any more");
    }
  } else {
    unanswered_.push_back({loop_.now(), state_ == AgentState::kExited});
    send(callbacks_.on_heartbeat());
  }
  heartbeat_timer_ = loop_.after(heartbeat_, [this] { send_heartbeat(); });
}

// A report of the present state has no need to tell of the exit again, once the port has changed.
void AgentSession::exit_is_known() {
  if (state_ != AgentState::kExited || !moved_) return;
  address_ = *std::exchange(moved_, std::nullopt);
  state_ = AgentState::kWaiting;
  run_attempt_ = generation_ = 0;
  exit_.reset();
}

void AgentSession::renew_lease(base::Instant sent_at) {
  lease_end_ = sent_at + master_lost_;
  // The first lease may end before the time for the first contact would have.
  if (!lease_timer_.pending() || lease_end_ < watched_until_) watch_lease();
}

// A timer that comes too early, because the lease was renewed since, only waits on.
void AgentSession::watch_lease() {
  const bool has_lease = !welcomed_ || master_lost_.count() > 0;
  if (!has_lease) return lease_timer_.reset();
  watched_until_ = lease_end_;
  lease_timer_ = loop_.at(lease_end_, [this] {
    if (loop_.now() < lease_end_) return watch_lease();
    give_up(base::format("nothing was heard from the master for {}",
                         base::to_words(welcomed_ ? base::Duration(master_lost_)
                                                  : base::Duration(kFirstContactTimeout))),
            callbacks_.on_lost);
  });
}

void AgentSession::disconnect() {
  attached_ = false;
  connecting_.reset();
  channel_.reset();
  pause_timer_.reset();
  welcome_timer_.reset();
  heartbeat_timer_.reset();
  log_timer_.reset();
  unanswered_.clear();
}

void AgentSession::on_connection_lost(const std::string& reason) {
  if (over_) return;
  disconnect();
  if (welcomed_ && master_lost_.count() == 0) return give_up(reason, callbacks_.on_lost);
  pause_timer_ = loop_.after(spread(pause_, identity_.task, tries_++), [this] { connect(); });
  pause_ = std::min(pause_ * 2, kLongestPause);
}

void AgentSession::give_up(const std::string& reason,
                           const std::function<void(const std::string&)>& callback) {
  over_ = true;
  disconnect();
  lease_timer_.reset();
  callback(reason);
}

void AgentSession::flush_log() {
  if (!attached_) return;
  while (!lines_.empty()) {
    if (channel_->queued_bytes() > kMaxUnsentBytes) {
      log_timer_ = loop_.after(kLogDelay, [this] { flush_log(); });
      return;
    }
    send(next_log_message());
  }
}

// The next lines of one stream, as many as a message may carry.
LogMessage AgentSession::next_log_message() {
  LogMessage message;
  message.stream = lines_.front().stream;
  message.dropped = std::exchange(dropped_[static_cast<std::size_t>(message.stream)], 0);
  std::size_t bytes = 0;
  while (!lines_.empty() && lines_.front().stream == message.stream &&
         message.lines.size() < kMaxLogLines &&
         bytes + lines_.front().text.size() <= kMaxLogBytes) {
    bytes += lines_.front().text.size();
    line_bytes_ -= lines_.front().text.size();
    message.lines.push_back(std::move(lines_.front().text));
    lines_.pop_front();
  }
  return message;
}

}  // namespace gangrun::registry
