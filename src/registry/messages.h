#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "job/cluster_spec.h"
#include "job/exit_report.h"
#include "job/figures.h"
#include "job/spec.h"
#include "job/task_id.h"

// What agents and the master say to each other in a session (docs/protocols/registry.md): one JSON
// object in each text frame. Decoding is strict: an unknown member, a wrong type or a value over a
// limit is an error that names it.
namespace gangrun::registry {

inline constexpr int kProtocol = 2;

// One connection of an agent, to the master.
using SessionId = std::uint64_t;

// Frames over these are refused unread. A start for 10,000 tasks with the longest host names fits.
inline constexpr std::size_t kMaxAgentMessageBytes = std::size_t{1} << 20U;
inline constexpr std::size_t kMaxMasterMessageBytes = std::size_t{4} << 20U;
// Of one log message, whatever the size of the log. The bytes are those of all its lines together.
inline constexpr std::size_t kMaxLinesOfLogMessage = 256;
// More than what process/output.h hands on of a line, with its words about the rest.
inline constexpr std::size_t kMaxLogLineBytes = std::size_t{20} << 10U;
// Of a task's last line, as it is shown.
inline constexpr std::size_t kMaxLastLineBytes = 400;
inline constexpr std::size_t kMaxIncompleteLogBytes = std::size_t{4} << 10U;
inline constexpr std::size_t kMaxBytesOfLogMessage = std::size_t{64} << 10U;
inline constexpr std::size_t kMaxMorePorts = job::kMaxPortsPerTask - 1;
inline constexpr std::size_t kMaxReasonBytes = std::size_t{1} << 10U;
inline constexpr std::size_t kFingerprintDigits = 64;
inline constexpr std::size_t kMaxRendezvousKeyBytes = 512;  // "SCOPE/NAME"
inline constexpr std::size_t kMaxRendezvousValueBytes = std::size_t{256} << 10U;
// The whole of a result, and of it in one message, where it is written in hexadecimal digits.
inline constexpr std::size_t kMaxTokensBytes = std::size_t{1} << 20U;
inline constexpr std::int64_t kMaxResultBytes = std::int64_t{256} << 20U;
inline constexpr std::size_t kMaxResultPartBytes = std::size_t{384} << 10U;
inline constexpr int kMaxAttempt = 1'000'000;
inline constexpr int kMaxGeneration = 1'000'000;
inline constexpr std::chrono::milliseconds kMaxInterval = std::chrono::hours(24);
inline constexpr std::chrono::milliseconds kMaxEndedAgo = std::chrono::hours(24 * 30);

// What the user's command of an agent is doing. kStarting: the agent was told to start it.
enum class AgentState { kWaiting, kStarting, kRunning, kExited };
enum class Stream { kOut, kErr };

std::string_view to_string(AgentState state);
std::string_view to_string(Stream stream);

// The report of a run that has ended, and how long ago that was when the message was written:
// hosts' clocks differ, so no message carries a time of day.
struct PastExit {
  job::ExitReport report;
  std::chrono::milliseconds ago{0};

  friend bool operator==(const PastExit&, const PastExit&) = default;
};

// Where an agent can be told that its master is at another place now (control.h), on the host of
// its address.
struct ControlAddress {
  std::uint16_t port = 0;
  std::string fingerprint;  // of the agent's certificate

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
  int run_attempt = 0;           // of the run that goes on or has ended; 0 when waiting
  int generation = 0;            // of the same run
  std::int64_t user_pid = 0;     // of the run that goes on, else 0
  std::optional<PastExit> exit;  // exactly when the state is kExited
  // What else is held for the task beside the port of its address, in the job's order.
  std::vector<std::uint16_t> more_ports{};
  std::string address_reason{};  // why this address and no other of its host
  std::optional<ControlAddress> control{};

  friend bool operator==(const ReportMessage&, const ReportMessage&) = default;
};

struct StartedMessage {
  int attempt = 1;
  int generation = 1;
  std::int64_t pid = 0;  // of the user's first process

  friend bool operator==(const StartedMessage&, const StartedMessage&) = default;
};

struct ExitedMessage {
  int attempt = 1;
  int generation = 1;
  PastExit exit;

  friend bool operator==(const ExitedMessage&, const ExitedMessage&) = default;
};

struct HeartbeatMessage {
  std::int64_t memory_bytes = 0;
  double cpu_seconds = 0;
  bool progress = false;  // output or CPU time since the last one

  friend bool operator==(const HeartbeatMessage&, const HeartbeatMessage&) = default;
};

struct LogMessage {
  Stream stream = Stream::kOut;
  std::vector<std::string> lines;
  std::int64_t dropped = 0;  // lines before these that were not sent
  // Why lines are not in the log file; empty: nothing new of that.
  std::string incomplete{};

  friend bool operator==(const LogMessage&, const LogMessage&) = default;
};

// Somebody else has the port of the spec with this generation, or (0, with the attempt of the
// agent) the one that was reported.
struct PortLostMessage {
  int attempt = 1;
  int generation = 0;

  friend bool operator==(const PortLostMessage&, const PortLostMessage&) = default;
};

// What the run tells of itself, when it has changed, and once more in each new session.
struct FiguresMessage {
  int attempt = 1;
  int generation = 1;
  job::Figures figures;

  friend bool operator==(const FiguresMessage&, const FiguresMessage&) = default;
};

// A part of what the run has left as its result, sent when its processes have ended and before the
// end is told. The next part follows when the master has this one; a new session begins anew.
struct ResultMessage {
  int attempt = 1;
  int generation = 1;
  std::int64_t offset = 0;
  std::int64_t size = 0;  // of the whole, more than 0
  std::string bytes;      // at least one

  friend bool operator==(const ResultMessage&, const ResultMessage&) = default;
};

enum class RendezvousAction { kGet, kPut, kDelete };
std::string_view to_string(RendezvousAction action);

// What a process asks of its agent's key-value store (docs/protocols/rendezvous.md), which the
// master keeps for the whole gang. The `id` comes back in the answer.
struct RendezvousMessage {
  int attempt = 1;
  int generation = 1;
  std::int64_t id = 0;
  RendezvousAction action = RendezvousAction::kGet;
  std::string key;
  std::string value;  // of a put, any bytes

  friend bool operator==(const RendezvousMessage&, const RendezvousMessage&) = default;
};

// The answer to a report that counts.
struct WelcomeMessage {
  std::chrono::milliseconds heartbeat{1000};
  // How long the agent goes on without a master; 0: the loss of the session ends it.
  std::chrono::milliseconds master_lost{0};

  friend bool operator==(const WelcomeMessage&, const WelcomeMessage&) = default;
};

// The answer to every heartbeat, by which an agent knows that its master lives.
struct AliveMessage {
  friend bool operator==(const AliveMessage&, const AliveMessage&) = default;
};

struct StartMessage {
  int attempt = 1;
  int restarts = 0;  // how often this job has started this task before
  job::ClusterSpec cluster_spec;

  friend bool operator==(const StartMessage&, const StartMessage&) = default;
};

// The place may take the task away, in this time where that is known. Nothing is stopped; the
// user's command is told.
struct NoticeMessage {
  std::optional<std::chrono::milliseconds> left;

  friend bool operator==(const NoticeMessage&, const NoticeMessage&) = default;
};

// New tokens of the place in place of those that the task was started with: a token file of Hadoop
// (docs/secure-clusters.md). The file that the user's process knows gets it.
struct TokensMessage {
  base::Secret file;

  friend bool operator==(const TokensMessage& one, const TokensMessage& other) {
    return one.file.reveal() == other.file.reveal();
  }
};

// Stop the user's process; the agent stays.
struct StopMessage {
  std::chrono::milliseconds grace{0};

  friend bool operator==(const StopMessage&, const StopMessage&) = default;
};

// Stop the user's process, if it runs, and end.
struct EndMessage {
  std::chrono::milliseconds grace{0};

  friend bool operator==(const EndMessage&, const EndMessage&) = default;
};

// The report changed nothing; the session is closed after it.
struct RefusedMessage {
  std::string reason;
  // True where the same report may be accepted later: the task's earlier session is still open.
  bool retry = false;

  friend bool operator==(const RefusedMessage&, const RefusedMessage&) = default;
};

// The answer to one RendezvousMessage. A get of a key that is not there is answered when it is.
struct RendezvousAnswerMessage {
  int attempt = 1;
  std::int64_t id = 0;
  std::string value;    // of a get that was not refused
  std::string refused;  // why nothing was done; empty where it was

  friend bool operator==(const RendezvousAnswerMessage&, const RendezvousAnswerMessage&) = default;
};

// The answer to one ResultMessage: so much of the result, from its beginning, is kept.
struct ResultKeptMessage {
  int attempt = 1;
  std::int64_t kept = 0;
  std::string refused{};  // why it is not kept, and nothing more is wanted; empty where it is

  friend bool operator==(const ResultKeptMessage&, const ResultKeptMessage&) = default;
};

// One encoded message, which may go to many.
using Frame = std::shared_ptr<const std::string>;

using AgentMessage =
    std::variant<ReportMessage, StartedMessage, ExitedMessage, HeartbeatMessage, LogMessage,
                 PortLostMessage, FiguresMessage, ResultMessage, RendezvousMessage>;
using MasterMessage = std::variant<WelcomeMessage, AliveMessage, StartMessage, NoticeMessage,
                                   TokensMessage, StopMessage, EndMessage, RefusedMessage,
                                   ResultKeptMessage, RendezvousAnswerMessage>;

std::string encode(const AgentMessage& message);
std::string encode(const MasterMessage& message);

// A cluster spec as it stands in a start message and in the answer of the REST interface. For the
// starts of a whole generation see starts.h.
std::string encode_cluster_spec(const job::ClusterSpec& spec);

// kFailedPrecondition for a report of another protocol version, else kInvalidArgument or
// kResourceExhausted; the message is fit to be sent back.
base::Result<AgentMessage> decode_agent_message(std::string_view frame);
base::Result<MasterMessage> decode_master_message(std::string_view frame);

}  // namespace gangrun::registry
