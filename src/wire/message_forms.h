#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/described.h"
#include "base/json.h"
#include "base/result.h"
#include "job/choice.h"
#include "job/ends.h"
#include "job/spec.h"

// The forms and limits of the members of the registry's messages (messages.h).
namespace gangrun::wire {

// Frames over these are refused unread. A start for 10,000 tasks with the longest host names fits.
inline constexpr std::size_t kMaxAgentMessageBytes = std::size_t{1} << 20U;
inline constexpr std::size_t kMaxMasterMessageBytes = std::size_t{4} << 20U;
// The limits for one log message, whatever the size of the log. The bytes are those of all its
// lines together.
inline constexpr std::size_t kMaxLinesOfLogMessage = 256;
// More than what process/output.h hands on of a line, with its words about the rest.
inline constexpr std::size_t kMaxLogLineBytes = std::size_t{20} << 10U;
// So many that the sum of a task's agents is a number too.
inline constexpr std::int64_t kMaxLostLines = 1'000'000'000'000;
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
// The name of one output, how many of them stand in one message, and the words for those that are
// not in any.
inline constexpr std::size_t kMaxOutputNameBytes = std::size_t{16} << 10U;
inline constexpr std::size_t kMaxOutputPieces = 1024;
inline constexpr std::size_t kMaxLostOutputsBytes = std::size_t{4} << 10U;
inline constexpr int kMaxAttempt = job::kMaxAttempt;
inline constexpr int kMaxGeneration = 1'000'000;
inline constexpr std::chrono::milliseconds kMaxInterval = std::chrono::hours(24);
inline constexpr std::chrono::milliseconds kMaxAskLimit = std::chrono::minutes(10);
inline constexpr std::chrono::milliseconds kMaxEndedAgo = std::chrono::hours(24 * 30);

// The state of the user's command of an agent. kStarting: the agent was told to start it.
enum class AgentState { kWaiting, kStarting, kRunning, kExited };
constexpr auto choice_of(AgentState) {
  using enum AgentState;
  return job::choice<AgentState>(
      "a state of an agent",
      {{kWaiting, "waiting"}, {kStarting, "starting"}, {kRunning, "running"}, {kExited, "exited"}});
}
inline std::string_view to_string(AgentState state) { return job::to_string(state); }

enum class Stream { kOut, kErr };
constexpr auto choice_of(Stream) {
  using enum Stream;
  return job::choice<Stream>("a stream", {{kOut, "out"}, {kErr, "err"}});
}
inline std::string_view to_string(Stream stream) { return job::to_string(stream); }

enum class RendezvousAction { kGet, kPut, kDelete };
constexpr auto choice_of(RendezvousAction) {
  using enum RendezvousAction;
  return job::choice<RendezvousAction>("an action",
                                       {{kGet, "get"}, {kPut, "put"}, {kDelete, "delete"}});
}
inline std::string_view to_string(RendezvousAction action) { return job::to_string(action); }

inline constexpr std::int64_t kMaxPid = std::int64_t{1} << 22U;
inline constexpr std::int64_t kMaxNumber = std::numeric_limits<std::int64_t>::max();

// The forms that several messages have.
inline constexpr base::Range kAttemptForm{1, kMaxAttempt};
inline constexpr base::Range kGenerationForm{1, kMaxGeneration};
inline constexpr base::Range kGenerationOrNoneForm{0, kMaxGeneration};
inline constexpr base::Range kPidForm{0, kMaxPid};
inline constexpr base::Range kNumberForm{0, kMaxNumber};
inline constexpr base::Range kIntervalForm{0, kMaxInterval.count()};
inline constexpr base::Bytes kReasonForm{kMaxReasonBytes, true};

// As many hexadecimal digits as a fingerprint has.
struct Fingerprint {
  [[nodiscard]] static base::Json write(const std::string& digits) { return digits; }
  base::Result<> read(const base::Json& json, std::string_view key, std::string& out) const;
  [[nodiscard]] static std::string bounds();
  template <typename T>
  [[nodiscard]] T sample() const {
    return T(kFingerprintDigits, 'a');
  }
};

base::Error other_protocol(std::int64_t other);

}  // namespace gangrun::wire
