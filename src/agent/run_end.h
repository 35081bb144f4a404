#pragma once

#include <string>

#include "job/exit_report.h"

namespace gangrun::agent {

// The facts that an agent knows about its run's end beside how the process ended.
struct RunCircumstances {
  bool has_notice = false;       // of a preemption that has not come yet
  std::string agent_ends_for{};  // why the agent itself ends the run; empty: it does not
  bool lost_port = false;        // port_loss.h
};

// The fate of the ports of a run that has ended.
enum class PortsNext {
  kNothing,    // the agent goes, or the place does
  kHoldAgain,  // for the next run
  kTakeOthers,
};

// Why the run ended, as the master is told it: what was done to the task is no failure of its own.
// Changes `report`. Pure.
PortsNext judge(job::ExitReport& report, const RunCircumstances& known);

}  // namespace gangrun::agent
