#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "base/described.h"
#include "base/json.h"
#include "base/result.h"
#include "cluster/question.h"
#include "job/cluster_spec.h"
#include "job/exit_report.h"
#include "job/figures.h"
#include "job/task_id.h"
#include "wire/message_forms.h"

// The messages of agents and the master in a session (docs/protocols/registry.md): one JSON
// object in each text frame. Decoding is strict: an unknown member, a wrong type or a value over a
// limit is an error that names it.
namespace gangrun::wire {

inline constexpr int kProtocol = 3;

// One connection of an agent, to the master.
using SessionId = std::uint64_t;

// The report of a run that has ended, and how long ago that was when the message was written:
// hosts' clocks differ, so no message carries a time of day.
struct PastExit {
  job::ExitReport report;
  std::chrono::milliseconds ago{0};

  static constexpr auto rows() {
    return std::tuple(
        base::row("exit", &PastExit::report),
        base::row("ended_ms_ago", &PastExit::ago, base::Range{0, kMaxEndedAgo.count()}));
  }

  friend bool operator==(const PastExit&, const PastExit&) = default;
};

// The address at which an agent learns that its master is at another place now (control.h), on the
// host of its address.
struct ControlAddress {
  std::uint16_t port = 0;
  std::string fingerprint;  // of the agent's certificate

  static constexpr auto rows() {
    return std::tuple(
        base::row("control_port", &ControlAddress::port, base::Range{1, 65535}),
        base::row("control_fingerprint", &ControlAddress::fingerprint, Fingerprint{}));
  }

  friend bool operator==(const ControlAddress&, const ControlAddress&) = default;
};

// The first message of every session, and again when a task that is not running holds a new port.
// An agent serves several runs of its task, one after the other; each run is an attempt of its own,
// and the agent is known by the attempt for which it was allocated.
struct ReportMessage {
  job::TaskId task;
  int attempt = 1;  // for which the agent was allocated
  job::Address address;
  std::int64_t pid = 0;  // of the agent
  AgentState state = AgentState::kWaiting;
  int run_attempt = 0;             // of the run that goes on or has ended; 0 when waiting
  int generation = 0;              // of the same run
  std::int64_t user_pid = 0;       // of the run that goes on, else 0
  std::optional<PastExit> exit{};  // exactly when the state is kExited
  // The further ports that are held for the task beside that of its address, in the job's order.
  std::vector<std::uint16_t> more_ports{};
  std::string address_reason{};  // why this address and no other of its host
  std::optional<ControlAddress> control{};

  static constexpr std::string_view kName = "report";
  static constexpr auto rows() {
    return std::tuple(
        base::FixedRow<ReportMessage>{"protocol", kProtocol, other_protocol},
        base::row("task", &ReportMessage::task),
        base::row("attempt", &ReportMessage::attempt, kAttemptForm),
        base::row("address", &ReportMessage::address),
        base::row("more_ports", &ReportMessage::more_ports,
                  base::ListOf<base::Range>{kMaxMorePorts, {1, 65535}}),
        base::row("address_reason", &ReportMessage::address_reason, kReasonForm),
        base::row("pid", &ReportMessage::pid, kPidForm), base::row("state", &ReportMessage::state),
        base::row("run_attempt", &ReportMessage::run_attempt, base::Range{0, kMaxAttempt}),
        base::row("generation", &ReportMessage::generation, kGenerationOrNoneForm),
        base::row("user_pid", &ReportMessage::user_pid, kPidForm),
        base::flat_row(&ReportMessage::control), base::flat_row(&ReportMessage::exit));
  }
  // Some members are there, or not zero, in some states only.
  [[nodiscard]] base::Result<> complete() const;
  void make_valid() { exit.reset(); }

  friend bool operator==(const ReportMessage&, const ReportMessage&) = default;
};

struct StartedMessage {
  int attempt = 1;
  int generation = 1;
  std::int64_t pid = 0;  // of the user's first process

  static constexpr std::string_view kName = "started";
  static constexpr auto rows() {
    return std::tuple(base::row("attempt", &StartedMessage::attempt, kAttemptForm),
                      base::row("generation", &StartedMessage::generation, kGenerationForm),
                      base::row("pid", &StartedMessage::pid, kPidForm));
  }

  friend bool operator==(const StartedMessage&, const StartedMessage&) = default;
};

struct ExitedMessage {
  int attempt = 1;
  int generation = 1;
  PastExit exit;

  static constexpr std::string_view kName = "exited";
  static constexpr auto rows() {
    return std::tuple(base::row("attempt", &ExitedMessage::attempt, kAttemptForm),
                      base::row("generation", &ExitedMessage::generation, kGenerationForm),
                      base::flat_row(&ExitedMessage::exit));
  }

  friend bool operator==(const ExitedMessage&, const ExitedMessage&) = default;
};

struct HeartbeatMessage {
  std::int64_t memory_bytes = 0;
  double cpu_seconds = 0;
  bool progress = false;  // output or CPU time since the last one

  static constexpr std::string_view kName = "heartbeat";
  static constexpr auto rows() {
    return std::tuple(base::row("memory_bytes", &HeartbeatMessage::memory_bytes, kNumberForm),
                      base::row("cpu_seconds", &HeartbeatMessage::cpu_seconds, base::Amount{}),
                      base::row("progress", &HeartbeatMessage::progress));
  }

  friend bool operator==(const HeartbeatMessage&, const HeartbeatMessage&) = default;
};

struct LogMessage {
  Stream stream = Stream::kOut;
  std::vector<std::string> lines;
  std::int64_t dropped = 0;  // lines before these that were not sent
  // Why lines are not in the log file; empty: nothing new of that.
  std::string incomplete{};
  std::int64_t lost = 0;  // with it: so many lines of all the agent's runs; 0: not counted yet

  static constexpr std::string_view kName = "log";
  static constexpr auto rows() {
    return std::tuple(
        base::row("stream", &LogMessage::stream),
        base::row("lines", &LogMessage::lines,
                  base::ListOf<base::Bytes>{kMaxLinesOfLogMessage, {kMaxLogLineBytes}}),
        base::row("dropped", &LogMessage::dropped, kNumberForm),
        base::row_if_set("incomplete", &LogMessage::incomplete,
                         base::Bytes{kMaxIncompleteLogBytes}),
        base::row_if_set("lost", &LogMessage::lost, base::Range{0, kMaxLostLines}));
  }
  [[nodiscard]] base::Result<> complete() const;

  friend bool operator==(const LogMessage&, const LogMessage&) = default;
};

// Somebody else has the port of the spec with this generation, or (0, with the attempt of the
// agent) the one that was reported.
struct PortLostMessage {
  int attempt = 1;
  int generation = 0;

  static constexpr std::string_view kName = "port_lost";
  static constexpr auto rows() {
    return std::tuple(base::row("attempt", &PortLostMessage::attempt, kAttemptForm),
                      base::row("generation", &PortLostMessage::generation, kGenerationOrNoneForm));
  }

  friend bool operator==(const PortLostMessage&, const PortLostMessage&) = default;
};

// The figures of the run, when they have changed, and once more in each new session.
struct FiguresMessage {
  int attempt = 1;
  int generation = 1;
  job::Figures figures;

  static constexpr std::string_view kName = "figures";
  static constexpr auto rows() {
    return std::tuple(base::row("attempt", &FiguresMessage::attempt, kAttemptForm),
                      base::row("generation", &FiguresMessage::generation, kGenerationForm),
                      base::row("figures", &FiguresMessage::figures));
  }

  friend bool operator==(const FiguresMessage&, const FiguresMessage&) = default;
};

// The request of a process to its agent's key-value store (docs/protocols/rendezvous.md), which the
// master keeps for the whole gang. The `id` comes back in the answer.
struct RendezvousMessage {
  int attempt = 1;
  int generation = 1;
  std::int64_t id = 0;
  RendezvousAction action = RendezvousAction::kGet;
  std::string key;
  std::string value;  // of a put, any bytes

  static constexpr std::string_view kName = "rendezvous";
  static constexpr auto rows() {
    return std::tuple(
        base::row("attempt", &RendezvousMessage::attempt, kAttemptForm),
        base::row("generation", &RendezvousMessage::generation, kGenerationForm),
        base::row("id", &RendezvousMessage::id, kNumberForm),
        base::row("action", &RendezvousMessage::action),
        base::row("key", &RendezvousMessage::key, base::Bytes{kMaxRendezvousKeyBytes}),
        base::row_when(is_put, "value", &RendezvousMessage::value,
                       base::Hex{kMaxRendezvousValueBytes}));
  }
  static bool is_put(const RendezvousMessage& message) {
    return message.action == RendezvousAction::kPut;
  }

  friend bool operator==(const RendezvousMessage&, const RendezvousMessage&) = default;
};

// The key "SCOPE/rank_N", which goes with "SCOPE/N": the library never deletes it itself.
std::string rank_key_of(const std::string& key);

// The answer to a report that counts.
struct WelcomeMessage {
  std::chrono::milliseconds heartbeat{1000};
  // How long the agent goes on without a master; 0: the loss of the session ends it.
  std::chrono::milliseconds master_lost{0};

  static constexpr std::string_view kName = "welcome";
  static constexpr auto rows() {
    return std::tuple(
        base::row("heartbeat_ms", &WelcomeMessage::heartbeat, base::Range{1, kMaxInterval.count()}),
        base::row("master_lost_ms", &WelcomeMessage::master_lost, kIntervalForm));
  }

  friend bool operator==(const WelcomeMessage&, const WelcomeMessage&) = default;
};

// The answer to every heartbeat, by which an agent knows that its master lives.
struct AliveMessage {
  static constexpr std::string_view kName = "alive";
  static constexpr auto rows() { return std::tuple(); }

  friend bool operator==(const AliveMessage&, const AliveMessage&) = default;
};

struct StartMessage {
  int attempt = 1;
  int restarts = 0;  // how often this job has started this task before
  job::ClusterSpec cluster_spec;

  static constexpr std::string_view kName = "start";
  static constexpr auto rows() {
    return std::tuple(
        base::row("attempt", &StartMessage::attempt, kAttemptForm),
        base::row("restarts", &StartMessage::restarts, kGenerationOrNoneForm),
        base::OwnRow<StartMessage>{"cluster_spec", "a cluster spec, in one of three forms",
                                   write_spec, read_spec, make_spec});
  }
  [[nodiscard]] base::Result<> complete() const;
  // In the member "cluster_spec", or "outline"; one that is packed comes from starts.h.
  static void write_spec(const StartMessage& message, base::Json& json);
  static base::Result<> read_spec(base::Members& in, StartMessage& message);
  static void make_spec(StartMessage& message);

  friend bool operator==(const StartMessage&, const StartMessage&) = default;
};

// An end of what the agent runs, by a signal, and after `grace` by force.
template <base::Name kIs>
struct EndingMessage {
  std::chrono::milliseconds grace{0};

  static constexpr std::string_view kName = kIs.text;
  static constexpr auto rows() {
    return std::tuple(base::row("grace_ms", &EndingMessage::grace, kIntervalForm));
  }

  friend bool operator==(const EndingMessage&, const EndingMessage&) = default;
};
// Stop the user's process; the agent stays.
using StopMessage = EndingMessage<"stop">;
// Stop the user's process, if it runs, and end.
using EndMessage = EndingMessage<"end">;

// The report changed nothing; the session is closed after it.
struct RefusedMessage {
  std::string reason;
  // True where the same report may be accepted later: the task's earlier session is still open.
  bool retry = false;

  static constexpr std::string_view kName = "refused";
  static constexpr auto rows() {
    return std::tuple(base::row("reason", &RefusedMessage::reason, kReasonForm),
                      base::row("retry", &RefusedMessage::retry));
  }

  friend bool operator==(const RefusedMessage&, const RefusedMessage&) = default;
};

// The answer to one RendezvousMessage. A get of a key that is not there is answered when it is.
struct RendezvousAnswerMessage {
  int attempt = 1;
  std::int64_t id = 0;
  std::string value;    // of a get that was not refused
  std::string refused;  // why nothing was done; empty where it was

  static constexpr std::string_view kName = "rendezvous";
  static constexpr auto rows() {
    return std::tuple(
        base::row("attempt", &RendezvousAnswerMessage::attempt, kAttemptForm),
        base::row("id", &RendezvousAnswerMessage::id, kNumberForm),
        base::row("value", &RendezvousAnswerMessage::value, base::Hex{kMaxRendezvousValueBytes}),
        base::row("refused", &RendezvousAnswerMessage::refused, kReasonForm));
  }

  friend bool operator==(const RendezvousAnswerMessage&, const RendezvousAnswerMessage&) = default;
};

// A question of either side to the other. `kind` says what `about` means, which only who asks and
// who answers know. Answered by one AnswerMessage with its `id`; never where the session ends.
struct AskMessage {
  std::int64_t id = 0;
  std::string kind;
  base::Json about = base::Json::object();
  // After that nobody waits for the answer.
  std::chrono::milliseconds limit{0};

  static constexpr std::string_view kName = "ask";
  static constexpr auto rows() {
    return std::tuple(
        base::row("id", &AskMessage::id, kNumberForm),
        base::row("kind", &AskMessage::kind, base::Bytes{cluster::kMaxKindBytes}),
        base::row("about", &AskMessage::about),
        base::row("limit_ms", &AskMessage::limit, base::Range{0, kMaxAskLimit.count()}));
  }
  [[nodiscard]] base::Result<> complete() const;

  friend bool operator==(const AskMessage&, const AskMessage&) = default;
};

struct AnswerMessage {
  std::int64_t id = 0;
  base::Json said;      // an object, as the kind has it; null where it is refused
  std::string refused;  // why there is no answer; empty where there is one

  static constexpr std::string_view kName = "answer";
  static constexpr auto rows() {
    return std::tuple(base::row("id", &AnswerMessage::id, kNumberForm),
                      base::row("said", &AnswerMessage::said),
                      base::row("refused", &AnswerMessage::refused, kReasonForm));
  }
  [[nodiscard]] base::Result<> complete() const;

  friend bool operator==(const AnswerMessage&, const AnswerMessage&) = default;
};

// One encoded message, which may go to many.
using Frame = std::shared_ptr<const std::string>;

using AgentMessage =
    std::variant<ReportMessage, StartedMessage, ExitedMessage, HeartbeatMessage, LogMessage,
                 PortLostMessage, FiguresMessage, RendezvousMessage, AskMessage, AnswerMessage>;
using MasterMessage =
    std::variant<WelcomeMessage, AliveMessage, StartMessage, StopMessage, EndMessage,
                 RefusedMessage, RendezvousAnswerMessage, AskMessage, AnswerMessage>;

std::string encode(const AgentMessage& message);
std::string encode(const MasterMessage& message);

// A cluster spec as a start message has it, and the answer of the REST interface. For the
// starts of a whole generation see starts.h.
std::string encode_cluster_spec(const job::ClusterSpec& spec);

// kFailedPrecondition for a report of another protocol version, else kInvalidArgument or
// kResourceExhausted; the message is fit to be sent back.
base::Result<AgentMessage> decode_agent_message(std::string_view frame);
base::Result<MasterMessage> decode_master_message(std::string_view frame);

}  // namespace gangrun::wire
