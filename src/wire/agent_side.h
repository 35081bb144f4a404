#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/pause.h"
#include "job/cluster_spec.h"
#include "job/exit_report.h"
#include "job/task_id.h"
#include "wire/messages.h"

namespace gangrun::wire {

// How long an agent tries to reach a master with which it has had no contact yet.
inline constexpr std::chrono::seconds kFirstContactTimeout{30};
// One attempt to connect, and the wait for the answer to a report.
inline constexpr std::chrono::seconds kConnectTimeout{10};
inline constexpr std::chrono::seconds kWelcomeTimeout{10};
// The pause before the next attempt doubles from the first to the longest one.
inline constexpr std::chrono::milliseconds kFirstPause{100};
inline constexpr std::chrono::milliseconds kLongestPause{5000};
// With so many heartbeats unanswered the connection is taken for dead and made again.
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
  std::vector<std::uint16_t> more_ports{};
  std::string address_reason{};
  std::optional<ControlAddress> control{};
  // Sends only the last one of the task's lines, after a heartbeat.
  bool sends_last_line_only = false;
  std::chrono::milliseconds first_contact = kFirstContactTimeout;
};

// All but those from on_attached on must be set. Called from the loop; each may call the session,
// none may destroy it. None is called after on_lost, on_refused or finish().
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
  // A session has begun: what the master was asked before is forgotten, perhaps with the master.
  std::function<void()> on_attached;
  // An answer for the present run.
  std::function<void(const RendezvousAnswerMessage&)> on_rendezvous;
  // A question of the master's, to be answered by AgentSession::answer().
  std::function<void(const AskMessage&)> on_ask;
  // To AgentSession::ask().
  std::function<void(const AnswerMessage&)> on_answer;
};

// The connection to the master, as the agent's side wants it.
class AgentSideOutput {
 public:
  virtual ~AgentSideOutput() = default;
  // Answered by on_connected(), or within kConnectTimeout by on_not_connected(); never at once.
  virtual void connect() = 0;
  // Ends a connection or the attempt to make one; nothing more is heard of it.
  virtual void disconnect() = 0;
  // Only while connected.
  virtual void send(std::string frame) = 0;
  [[nodiscard]] virtual std::size_t unsent_bytes() const = 0;
};

// An agent's side of its session, as the desk is the master's: connects, reports, keeps the lease,
// and after a loss connects again for as long as the lease lasts. What happens to the task is told
// at any time; what no master has heard yet is part of the next report. No socket, no clock: it is
// told what arrives and when.
//
// The lease counts from when the report or heartbeat that the master has answered was sent, so it
// ends here before it ends at the master, however slow the network is.
class AgentSide {
 public:
  AgentSide(AgentIdentity identity, AgentSessionCallbacks callbacks, AgentSideOutput& output);

  void open(base::Instant now);

  void on_connected(base::Instant now);
  // `is_refusal`: the other side knows us and does not let us in.
  void on_not_connected(const std::string& reason, bool is_refusal, base::Instant now);
  void on_frame(std::string_view frame, base::Instant now);
  // The same, decoded.
  void on_message(const MasterMessage& message, base::Instant now);
  // The connection is gone. Harmless where there is none.
  void on_connection_lost(const std::string& reason, base::Instant now);
  // The master is said to be there now: what is awaited only for a next try is tried at once. At
  // another place than before, a connection, or the attempt to make one, is given up for it. The
  // lease goes on as it was.
  void connect_now(bool is_elsewhere);
  // When on_time() has something to do next, if ever.
  [[nodiscard]] std::optional<base::Instant> next_deadline() const;
  void on_time(base::Instant now);

  // As in AgentSession.
  void started(std::int64_t user_pid);
  void exited(job::ExitReport report, base::Instant ended_at, base::Instant now);
  void port_lost();
  void set_address(const job::Address& address, std::vector<std::uint16_t> more_ports = {});
  void log(Stream stream, std::string_view line, base::Instant now);
  void incomplete_log(std::string_view why, std::uint64_t lost, base::Instant now);
  void rendezvous(RendezvousMessage message);
  void figures(job::Figures figures);
  void ask(const AskMessage& message) { send_if_attached(message); }
  void answer(const AnswerMessage& message) { send_if_attached(message); }
  // Sends what is queued. Nothing happens after it, and a connection stays open.
  void finish(base::Instant now);

  [[nodiscard]] bool is_attached() const { return attached_; }
  [[nodiscard]] AgentState state() const { return state_; }

 private:
  struct Line {
    Stream stream = Stream::kOut;
    std::string text;
    bool is_of_log = false;  // not the task's: what its log file lacks
    std::int64_t lost = 0;   // of that
  };

  void handle(const WelcomeMessage& message, base::Instant now);
  void handle(const AliveMessage& message, base::Instant now);
  void handle(const StartMessage& message, base::Instant now);
  void handle(const StopMessage& message, base::Instant now);
  void handle(const EndMessage& message, base::Instant now);
  void handle(const RefusedMessage& message, base::Instant now);
  void handle(const RendezvousAnswerMessage& message, base::Instant now);
  void handle(const AskMessage& message, base::Instant now);
  void handle(const AnswerMessage& message, base::Instant now);
  template <typename Message>
  void send_of_run(Message message);

  void send(const AgentMessage& message);
  void send_if_attached(const AgentMessage& message);
  void send_report(base::Instant now);
  void send_new_address();
  // The report of a task that waits.
  [[nodiscard]] ReportMessage report_at(const job::Address& address) const;
  void send_heartbeat(base::Instant now);
  [[nodiscard]] PastExit past_exit(base::Instant now) const;
  void exit_is_known();
  [[nodiscard]] bool has_lease() const { return !welcomed_ || master_lost_.count() > 0; }
  void disconnect();
  void give_up(const std::string& reason, const std::function<void(const std::string&)>& callback);
  // A run's end comes after its lines, which the queue bounds, however slow the connection is.
  enum class Flush { kAsFarAsRoom, kAll };
  void flush_log(base::Instant now, Flush what = Flush::kAsFarAsRoom);
  void queue(Line line, base::Instant now);
  void send_last_line();
  [[nodiscard]] LogMessage next_log_message();
  [[nodiscard]] const job::Address& held_address() const { return moved_ ? *moved_ : address_; }

  const AgentIdentity identity_;
  const AgentSessionCallbacks callbacks_;
  AgentSideOutput& output_;

  // The task. `address_` is the one of the run; `moved_` is held instead since its end.
  AgentState state_ = AgentState::kWaiting;
  job::Address address_;
  std::vector<std::uint16_t> more_ports_;  // held now
  std::optional<job::Address> moved_;
  int run_attempt_ = 0;
  int generation_ = 0;
  std::int64_t user_pid_ = 0;
  std::optional<job::ExitReport> exit_;
  base::Instant ended_at_;
  std::pair<int, int> last_start_{0, 0};  // attempt and generation

  // The connection: at most one of connecting, connected, and a pause.
  bool connected_ = false;
  bool attached_ = false;
  bool over_ = false;
  std::optional<base::Instant> connect_at_;
  base::Pause pause_{kFirstPause, kLongestPause};
  unsigned tries_ = 0;
  base::Instant reported_at_;
  std::optional<base::Instant> welcome_by_;
  std::optional<base::Instant> heartbeat_at_;
  std::deque<base::Instant> unanswered_;  // when each was sent

  // The lease. Without a welcome yet, the time for the first contact.
  bool welcomed_ = false;
  std::string last_loss_;  // why the last connection ended, or was not made
  std::chrono::milliseconds heartbeat_{1000};
  std::chrono::milliseconds master_lost_{0};
  std::optional<base::Instant> lease_end_;

  std::deque<Line> lines_;
  std::size_t line_bytes_ = 0;
  std::array<std::int64_t, 2> dropped_{};  // by stream
  std::optional<Line> last_line_;          // not sent; where it is the only one
  std::optional<Line> log_lack_;           // what the log lacks, as it was told last
  std::optional<base::Instant> flush_at_;
};

}  // namespace gangrun::wire
