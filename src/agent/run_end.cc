#include "agent/run_end.h"

namespace gangrun::agent {

PortsNext judge(job::ExitReport& report, const RunCircumstances& known) {
  if (report.success) return PortsNext::kHoldAgain;
  // With a notice, it has saved what it could and left.
  const bool is_preempted = known.has_notice && report.why.reason != job::Reason::kOutOfMemory;
  if (is_preempted) report.why.reason = job::Reason::kPreempted;
  if (!known.agent_ends_for.empty()) {
    if (!is_preempted) report.why = {.reason = job::Reason::kAgentEnded};
    report.why.detail = known.agent_ends_for;
    return PortsNext::kNothing;
  }
  if (is_preempted) return PortsNext::kNothing;
  if (!known.lost_port) return PortsNext::kHoldAgain;
  report.why.reason = job::Reason::kPortLost;
  report.port_lost = true;
  return PortsNext::kTakeOthers;
}

}  // namespace gangrun::agent
