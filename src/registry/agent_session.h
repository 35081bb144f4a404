#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"
#include "job/cluster_spec.h"
#include "job/exit_report.h"
#include "job/task_id.h"
#include "net/channel.h"
#include "net/client.h"
#include "net/event_loop.h"
#include "registry/messages.h"

namespace gangrun::registry {

// How long an agent tries to reach a master that it has not heard of yet.
inline constexpr std::chrono::seconds kFirstContactTimeout{30};
// One attempt to connect, and the wait for the answer to a report.
inline constexpr std::chrono::seconds kConnectTimeout{10};
inline constexpr std::chrono::seconds kWelcomeTimeout{10};
// The pause before the next attempt doubles from the first to the longest one.
inline constexpr std::chrono::milliseconds kFirstPause{100};
inline constexpr std::chrono::milliseconds kLongestPause{5000};
// With so many heartbeats unanswered the connection is taken for dead and made anew.
inline constexpr std::size_t kMaxUnansweredHeartbeats = 10;
// Log lines that wait for a session or a slow connection; the oldest are dropped and counted.
inline constexpr std::size_t kMaxQueuedLogLines = 2000;
inline constexpr std::size_t kMaxQueuedLogBytes = std::size_t{1} << 20U;
// Log lines wait while so much of the connection's queue is unsent, and so long for more lines.
inline constexpr std::size_t kMaxUnsentBytes = std::size_t{1} << 20U;
inline constexpr std::chrono::milliseconds kLogDelay{50};

struct AgentIdentity {
  job::TaskId task;
  int attempt = 1;  // for which the agent was allocated
  job::Address address;
  std::int64_t pid = 0;  // of the agent
};

// All must be set. Called from the loop; each may call the session, none may destroy it. None is
// called after on_lost, on_refused or finish().
struct AgentSessionCallbacks {
  // The next attempt begins. Never called twice for one attempt and generation.
  std::function<void(const StartMessage&)> on_start;
  std::function<void(std::chrono::milliseconds grace)> on_stop;
  std::function<void(std::chrono::milliseconds grace)> on_end;
  // Asked before each heartbeat.
  std::function<HeartbeatMessage()> on_heartbeat;
  // The spec of a start has another address than the one that is held now. The master has been told
  // of a lost port already, nothing is to be started.
  std::function<void()> on_outdated_spec;
  // The lease is over: whatever runs must be stopped at once, another agent may take the place.
  std::function<void(const std::string& reason)> on_lost;
  // The master does not want this agent; the same end.
  std::function<void(const std::string& reason)> on_refused;
};

// An agent's side of its session: connects, reports, keeps the lease, and after a loss connects
// again for as long as the lease lasts. What happens to the task is told by the calls below at any
// time; what no master has heard yet is part of the next report.
//
// The lease counts from when the report or heartbeat that the master has answered was sent, so it
// ends here before it ends at the master, however slow the network is.
class AgentSession {
 public:
  AgentSession(net::EventLoop& loop, net::Endpoint endpoint, base::Secret secret,
               AgentIdentity identity, AgentSessionCallbacks callbacks);
  AgentSession(const AgentSession&) = delete;
  AgentSession& operator=(const AgentSession&) = delete;

  void open();

  // The run that on_start() asked for.
  void started(std::int64_t user_pid);
  void exited(job::ExitReport report);
  // The held port is somebody else's. A start that has not led to started() is off by that.
  void port_lost();
  // Another port is held; only while nothing runs.
  void set_address(const job::Address& address);
  // One line of the task's output, without its end.
  void log(Stream stream, std::string_view line);
  // The last call: sends what is queued, says farewell, then calls `done` (within
  // net::kCloseTimeout, from the loop).
  void finish(std::function<void()> done);

  // Whether the master has answered this session's report.
  [[nodiscard]] bool is_attached() const { return attached_; }
  [[nodiscard]] AgentState state() const { return state_; }

 private:
  struct SentHeartbeat {
    base::Instant at;
    bool confirms_exit = false;  // it was sent after the exit: its answer says that both arrived
  };
  struct Line {
    Stream stream = Stream::kOut;
    std::string text;
  };

  void connect();
  void on_connected(base::Result<std::unique_ptr<net::Channel>> channel);
  void on_message(std::string_view frame);
  void handle(const WelcomeMessage& message);
  void handle(const AliveMessage& message);
  void handle(const StartMessage& message);
  void handle(const StopMessage& message);
  void handle(const EndMessage& message);
  void handle(const RefusedMessage& message);

  void send(const AgentMessage& message);
  void send_report();
  void send_new_address();
  void send_heartbeat();
  void exit_is_known();
  void renew_lease(base::Instant sent_at);
  void watch_lease();
  void disconnect();
  void on_connection_lost(const std::string& reason);
  void give_up(const std::string& reason, const std::function<void(const std::string&)>& callback);
  void flush_log();
  [[nodiscard]] LogMessage next_log_message();
  [[nodiscard]] const job::Address& held_address() const { return moved_ ? *moved_ : address_; }

  net::EventLoop& loop_;
  const net::Endpoint endpoint_;
  const base::Secret secret_;
  const AgentIdentity identity_;
  const AgentSessionCallbacks callbacks_;

  // The task. `address_` is the one of the run; `moved_` is held instead since its end.
  AgentState state_ = AgentState::kWaiting;
  job::Address address_;
  std::optional<job::Address> moved_;
  int run_attempt_ = 0;
  int generation_ = 0;
  std::int64_t user_pid_ = 0;
  std::optional<job::ExitReport> exit_;
  base::Instant ended_at_;
  std::pair<int, int> last_start_{0, 0};  // attempt and generation

  // The connection: at most one of connecting, a channel, and a pause.
  net::Connecting connecting_;
  std::unique_ptr<net::Channel> channel_;
  net::Timer pause_timer_;
  std::chrono::milliseconds pause_ = kFirstPause;
  unsigned tries_ = 0;
  bool attached_ = false;
  bool over_ = false;
  base::Instant reported_at_;
  bool reported_exit_ = false;
  net::Timer welcome_timer_;
  net::Timer heartbeat_timer_;
  std::deque<SentHeartbeat> unanswered_;

  // The lease. Without a welcome yet, the time for the first contact.
  bool welcomed_ = false;
  std::chrono::milliseconds heartbeat_{1000};
  std::chrono::milliseconds master_lost_{0};
  base::Instant lease_end_;
  base::Instant watched_until_;
  net::Timer lease_timer_;

  std::deque<Line> lines_;
  std::size_t line_bytes_ = 0;
  std::array<std::int64_t, 2> dropped_{};  // by stream
  net::Timer log_timer_;
  net::Timer done_timer_;
};

}  // namespace gangrun::registry
