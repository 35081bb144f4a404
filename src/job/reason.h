#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

// Why a run of a task, a task or a whole job ended. Programs decide by it; people read the sentence
// that comes with it, and docs/troubleshooting.md, which has a section for each.
namespace gangrun::job {

enum class Reason : std::uint8_t {
  kUnknown,  // told by a version of gangrun that knew no reasons, or knew more of them
  // The task's command.
  kExitStatus,
  kSignal,
  kOutOfMemory,
  kCouldNotStart,
  kImagePull,
  kContainerCreate,
  kPortLost,
  kLogLimit,
  kNoProgress,
  // Its place.
  kPreempted,
  kEvicted,
  kLostNode,
  kContainerLost,
  kNoHeartbeat,
  kAgentEnded,
  // Limits of time.
  kAllocationTimeout,
  kRollCallTimeout,
  kJobTimeout,
  kStopTimeout,
  // The job.
  kStopped,
  kClusterGone,
  kApiServer,
  kMasterLost,
};

// "exit_status", "out_of_memory", …
std::string_view to_string(Reason reason);
// The inverse of to_string(); kInvalidArgument.
base::Result<Reason> reason_from(std::string_view text);
// The reason in a record of any version: kUnknown for one that this version does not know.
Reason reason_or_unknown(std::string_view text);
// All but kUnknown, in the order of the enumeration.
std::span<const Reason> all_reasons();

// Whether it is the task's own doing. A restart for another reason is not counted.
[[nodiscard]] bool is_own_fault(Reason reason);
// Whether it may be the consequence of another task's loss. Memory, limits and a command that
// cannot be started are a task's own affair.
[[nodiscard]] bool may_lack_others(Reason reason);
// Whether the task's command had begun. What could not even begin is not tried again.
[[nodiscard]] bool has_begun(Reason reason);

}  // namespace gangrun::job
