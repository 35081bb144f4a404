#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "agents/rendezvous_store.h"
#include "agents/starts.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "job/cluster_spec.h"
#include "job/ends.h"
#include "job/task_id.h"
#include "wire/messages.h"

namespace gangrun::agents {

// How long a new session may take to report.
inline constexpr std::chrono::milliseconds kReportTimeout = std::chrono::seconds(10);
// A session that is silent for so many heartbeats is closed.
inline constexpr int kMissedHeartbeats = 10;
// When on_time() is called so much later than it was due, the master itself stood still (stopped,
// or starved): that nothing was heard then says nothing about the agents.
inline constexpr std::chrono::milliseconds kMaxLateness = std::chrono::seconds(1);
// Kinds of wrong messages, by task, that are told in the log; later new ones are not.
inline constexpr std::size_t kMaxLoggedOffences = 1000;

// In every event, `attempt` is the task's current one: of expect(), or of the last send_start().
// job::Exited (job/ends.h) comes at most once for an attempt. The gang's events (gang/event.h) are
// made of these, which also say what the gang need not know.

// A task is at a place and waits for the cluster spec: for the first time, or (its port was lost)
// at a new address. From an agent, or by REST, then with pid 0.
struct PlaceReported {
  job::TaskId task;
  int attempt = 1;
  job::Address address;
  std::int64_t pid = 0;  // of the agent
  std::vector<std::uint16_t> more_ports{};
  std::string address_reason{};
  std::optional<wire::ControlAddress> control{};

  friend bool operator==(const PlaceReported&, const PlaceReported&) = default;
};

// A task that this desk or its predecessor knew has a session again. What its agent says of the
// current attempt, and was not told before, follows at once as ProcessStarted, Exited or
// PlaceReported.
struct AgentReattached {
  job::TaskId task;
  int attempt = 1;
  job::Address address;
  std::int64_t pid = 0;
  // The state of the current attempt; kWaiting where the agent knows nothing of it yet.
  wire::AgentState state = wire::AgentState::kWaiting;
  int generation = 0;
  std::int64_t user_pid = 0;
  std::vector<std::uint16_t> more_ports{};
  std::string address_reason{};
  std::optional<wire::ControlAddress> control{};

  friend bool operator==(const AgentReattached&, const AgentReattached&) = default;
};

// At most once for an attempt.
struct ProcessStarted {
  job::TaskId task;
  int attempt = 1;
  int generation = 1;
  std::int64_t pid = 0;

  friend bool operator==(const ProcessStarted&, const ProcessStarted&) = default;
};

struct Heartbeat {
  job::TaskId task;
  int attempt = 1;
  std::int64_t memory_bytes = 0;
  double cpu_seconds = 0;
  bool progress = false;

  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};

struct LogLines {
  job::TaskId task;
  int attempt = 1;
  wire::Stream stream = wire::Stream::kOut;
  std::vector<std::string> lines;
  std::int64_t dropped = 0;
  std::string incomplete{};  // why lines are not in the task's log file
  std::int64_t lost = 0;     // with it: so many lines of all runs of this agent
  int agent = 1;             // the attempt for which it was allocated

  friend bool operator==(const LogLines&, const LogLines&) = default;
};

struct PortLost {
  job::TaskId task;
  int attempt = 1;
  int generation = 0;

  friend bool operator==(const PortLost&, const PortLost&) = default;
};

struct SessionEnded {
  job::TaskId task;
  int attempt = 1;
  // When the agent's lease was last renewed, by this host's clock: one lease later the agent has
  // stopped trying and has told its task to stop.
  base::Instant renewed_at;
  // The agent's words as it left; none where the connection broke.
  std::optional<std::string> farewell{};

  friend bool operator==(const SessionEnded&, const SessionEnded&) = default;
};

struct FiguresTold {
  job::TaskId task;
  int attempt = 1;
  job::Figures figures;

  friend bool operator==(const FiguresTold&, const FiguresTold&) = default;
};

// The task's agent asks the master; to be answered by send_answer().
struct AgentAsked {
  job::TaskId task;
  wire::AskMessage question;

  friend bool operator==(const AgentAsked&, const AgentAsked&) = default;
};

// To a send_ask().
struct Answered {
  job::TaskId task;
  wire::AnswerMessage answer;

  friend bool operator==(const Answered&, const Answered&) = default;
};

using DeskEvent =
    std::variant<PlaceReported, AgentReattached, ProcessStarted, job::Exited, Heartbeat, LogLines,
                 PortLost, SessionEnded, FiguresTold, AgentAsked, Answered>;

// Carries out the desk's decisions. Each call may call the desk again; the desk has finished its
// own change by then.
class DeskOutput {
 public:
  virtual ~DeskOutput() = default;
  virtual void send(wire::SessionId session, wire::Frame frame) = 0;
  // The desk has forgotten the session. What was sent before is still to be delivered.
  virtual void close(wire::SessionId session, std::string_view reason) = 0;
  virtual void event(DeskEvent event) = 0;
};

// A second; more for more than some thousand sessions, so that one processor answers them all
// beside its other work, but not so much that a few lost ones would cost an agent its lease.
std::chrono::milliseconds heartbeat_of(int sessions, std::chrono::milliseconds master_lost);

struct DeskOptions {
  std::chrono::milliseconds heartbeat{1000};
  std::chrono::milliseconds master_lost{0};
};

// All that the registry knows of one expected task.
struct KnownPlace {
  int attempt = 1;                      // the current one
  std::optional<job::Address> address;  // the last one reported
  bool connected = false;               // an agent's session is open
  bool by_rest = false;                 // reported without an agent
  // The control server of its agent, on the host of its address.
  std::optional<wire::ControlAddress> control{};

  friend bool operator==(const KnownPlace&, const KnownPlace&) = default;
};

// The master's side of all sessions: turns frames into events. No socket, no clock: it is told what
// arrives and when. What is late, doubled, unknown, malformed or of the wrong generation changes
// nothing and is logged once for each kind and task.
class Desk {
 public:
  Desk(DeskOptions options, DeskOutput& output, base::Logger& logger);

  // From now on only an agent (or a report by REST) for `attempt` of `task` counts. A session of
  // another one is refused, without an event. Later attempts are runs of the same agent, by
  // send_start(). A new desk says both: expect(), then set_attempt().
  void expect(const job::TaskId& task, int attempt);
  void set_attempt(const job::TaskId& task, int current);
  // Tells a new desk what its predecessor had published: runs of later generations are refused.
  void set_generation(int newest);

  void on_opened(wire::SessionId session, base::Instant now);
  void on_frame(wire::SessionId id, std::string_view frame, base::Instant now);
  // The other side is gone. Sessions that the desk closed itself may be named too.
  void on_closed(wire::SessionId session, std::optional<std::string> farewell = {});
  // When on_time() has something to do next, if ever.
  [[nodiscard]] std::optional<base::Instant> next_deadline() const;
  void on_time(base::Instant now);

  // A place without an agent. kNotFound: no such task; kAlreadyExists: this attempt has a place;
  // kFailedPrecondition: another attempt is expected.
  base::Result<> report_place(const job::TaskId& task, int attempt, const job::Address& address);

  // The next attempt begins with its start; `attempt` is at least the current one. True if the
  // agent has it, or will have it by its session (a generation has one spec); false if there is no
  // session: after AgentReattached it is to be sent again, which is harmless. What the agent is
  // known to have already is not sent twice.
  bool send_start(const job::TaskId& task, int attempt, int restarts, Starts& starts);
  // To the session of a task; false if there is none. Where an agent was never told of the current
  // attempt, nothing is sent: Exited follows at once.
  bool send_stop(const job::TaskId& task, std::chrono::milliseconds grace);
  bool send_end(const job::TaskId& task, std::chrono::milliseconds grace);
  bool send_ask(const job::TaskId& task, wire::AskMessage question);
  // Nobody waits for one whose session is gone.
  void send_answer(const job::TaskId& task, wire::AnswerMessage answer);

  // A key of the rendezvous from outside the gang. kFailedPrecondition before the first generation.
  base::Result<> put_key(const std::string& key, std::string value);
  // The value that somebody has put there in this generation; null where nobody has. Good until the
  // next change.
  [[nodiscard]] const std::string* find_key(const std::string& key) const;

  [[nodiscard]] std::optional<KnownPlace> place(const job::TaskId& task) const;
  [[nodiscard]] std::size_t session_count() const { return sessions_.size(); }

 private:
  // kOpened: has not reported. The others: what its agent does, as far as it said so; kStarting:
  // it was told to start and has not answered.
  enum class Phase { kOpened, kWaiting, kStarting, kRunning, kEnded };
  enum class Offence {
    kMalformed,
    kUnknown,
    kLate,
    kDuplicate,
    kGeneration,
    kUnexpected,
    kSilent,
    kRendezvous
  };

  struct Session {
    Phase phase = Phase::kOpened;
    job::TaskId task;
    // The run that it was told to start; before any: the agent's attempt and 0.
    int attempt = 0;
    int generation = 0;
    bool port_lost = false;
    base::Instant deadline;
    base::Instant renewed_at;
  };

  struct Expected {
    int agent_attempt = 1;
    int attempt = 1;  // current, not less than the agent's
    // The last attempts of which ProcessStarted and Exited were told.
    int started_attempt = 0;
    int exited_attempt = 0;
    std::optional<job::Address> address;
    std::optional<wire::ControlAddress> control;
    std::optional<wire::SessionId> session;
    bool by_rest = false;
  };

  void handle(wire::SessionId id, Session& session, const wire::ReportMessage& message,
              base::Instant now);
  void handle(wire::SessionId id, Session& session, const wire::StartedMessage& message,
              base::Instant now);
  void handle(wire::SessionId id, Session& session, const wire::ExitedMessage& message,
              base::Instant now);
  void handle(wire::SessionId id, Session& session, const wire::HeartbeatMessage& message,
              base::Instant now);
  void handle(wire::SessionId id, Session& session, wire::LogMessage& message, base::Instant now);
  void handle(wire::SessionId id, Session& session, const wire::PortLostMessage& message,
              base::Instant now);
  void handle(wire::SessionId id, Session& session, wire::FiguresMessage& message,
              base::Instant now);
  void handle(wire::SessionId id, Session& session, wire::RendezvousMessage& message,
              base::Instant now);
  void handle(wire::SessionId id, Session& session, wire::AskMessage& message, base::Instant now);
  void handle(wire::SessionId id, Session& session, wire::AnswerMessage& message,
              base::Instant now);

  void first_report(wire::SessionId id, Session& session, const wire::ReportMessage& message,
                    base::Instant now);
  // Why a first report does not count; empty when it does.
  struct Objection {
    Offence offence = Offence::kUnknown;
    std::string reason;
    bool retry = false;
  };
  [[nodiscard]] std::optional<Objection> objection_to(const wire::ReportMessage& message) const;
  void attach(wire::SessionId id, Session& session, const wire::ReportMessage& message,
              base::Instant now);
  // Events of the current attempt that were not told before.
  void tell_started(ProcessStarted event);
  void tell_exited(job::Exited event);
  void new_address(Session& session, const wire::ReportMessage& message);
  // Why the store did not do it, or nothing; a get that waits is not answered.
  base::Result<> rendezvous(wire::SessionId id, const Session& session,
                            wire::RendezvousMessage& message);
  void tell(const std::vector<RendezvousStore::Reader>& readers, const std::string& value);
  // Whether a message of this attempt and generation is about the run that the session was told to
  // start; logs where not.
  bool is_current(const Session& session, std::string_view what, int attempt, int generation);
  // Likewise, of a run that goes on as far as its agent has told.
  bool is_running(const Session& session, std::string_view what, int attempt, int generation);
  void set_deadline(wire::SessionId id, Session& session, base::Instant deadline);
  void send(wire::SessionId id, const wire::MasterMessage& message);
  void refuse(wire::SessionId id, const std::string& reason, bool retry);
  // Forgets a session; what it held, if the task still expects it.
  std::optional<SessionEnded> remove(wire::SessionId id);
  [[nodiscard]] base::Duration patience(const Session& session) const;
  std::pair<wire::SessionId, Session*> session_of(const job::TaskId& task);
  void log_once(Offence offence, const std::string& who, std::string_view what);

  DeskOptions options_;
  DeskOutput& output_;
  base::Logger& logger_;
  std::map<job::TaskId, Expected> expected_;
  std::map<wire::SessionId, Session> sessions_;
  std::set<std::pair<base::Instant, wire::SessionId>> deadlines_;
  std::set<std::pair<Offence, std::string>> logged_;
  int newest_generation_ = 0;
  RendezvousStore rendezvous_;  // of the newest generation
};

}  // namespace gangrun::agents
