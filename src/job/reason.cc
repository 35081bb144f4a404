#include "job/reason.h"

#include <array>
#include <string>
#include <vector>

#include "job/choice.h"

namespace gangrun::job {

namespace {

struct Row {
  Reason reason;
  std::string_view name;
  bool is_own_fault;
  bool has_begun = true;
};

constexpr std::array kRows = {
    Row{Reason::kExitStatus, "exit_status", true},
    Row{Reason::kSignal, "signal", true},
    Row{Reason::kOutOfMemory, "out_of_memory", true},
    Row{Reason::kCouldNotStart, "could_not_start", true, false},
    Row{Reason::kImagePull, "image_pull", true, false},
    Row{Reason::kContainerCreate, "container_create", true, false},
    Row{Reason::kPortLost, "port_lost", false},
    Row{Reason::kLogLimit, "log_limit", true},
    Row{Reason::kNoProgress, "no_progress", true},
    Row{Reason::kPreempted, "preempted", false},
    Row{Reason::kEvicted, "evicted", false},
    Row{Reason::kLostNode, "lost_node", false},
    Row{Reason::kContainerLost, "container_lost", false},
    Row{Reason::kNoHeartbeat, "no_heartbeat", false},
    Row{Reason::kAgentEnded, "agent_ended", true},
    Row{Reason::kAllocationTimeout, "allocation_timeout", true, false},
    Row{Reason::kRollCallTimeout, "roll_call_timeout", true},
    Row{Reason::kJobTimeout, "job_timeout", true},
    Row{Reason::kStopTimeout, "stop_timeout", true},
    Row{Reason::kStopped, "stopped", false},
    Row{Reason::kClusterGone, "cluster_gone", true},
    Row{Reason::kApiServer, "api_server", true},
    Row{Reason::kMasterLost, "master_lost", false},
};

constexpr auto kReasons = [] {
  std::array<Reason, kRows.size()> reasons{};
  for (std::size_t i = 0; i < kRows.size(); ++i) reasons[i] = kRows[i].reason;
  return reasons;
}();

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].reason) != i + 1) return false;
  }
  return true;
}
static_assert(rows_are_in_order() && static_cast<std::size_t>(Reason::kMasterLost) == kRows.size());

const Row* row_of(Reason reason) {
  const auto index = static_cast<std::size_t>(reason);
  return index == 0 ? nullptr : &kRows[index - 1];
}

}  // namespace

std::string_view to_string(Reason reason) {
  const Row* row = row_of(reason);
  return row == nullptr ? "unknown" : row->name;
}

base::Result<Reason> reason_from(std::string_view text) {
  std::vector<std::string> names;
  for (const Row& row : kRows) {
    if (row.name == text) return row.reason;
    names.emplace_back(row.name);
  }
  return not_one_of(text, "a reason", names);
}

Reason reason_or_unknown(std::string_view text) {
  const base::Result<Reason> reason = reason_from(text);
  return reason.ok() ? *reason : Reason::kUnknown;
}

std::span<const Reason> all_reasons() { return kReasons; }

bool is_own_fault(Reason reason) {
  const Row* row = row_of(reason);
  return row == nullptr || row->is_own_fault;
}

bool may_lack_others(Reason reason) {
  return reason == Reason::kUnknown || reason == Reason::kExitStatus || reason == Reason::kSignal;
}

bool has_begun(Reason reason) {
  const Row* row = row_of(reason);
  return row == nullptr || row->has_begun;
}

}  // namespace gangrun::job
