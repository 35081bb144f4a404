#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "agent/task_process.h"
#include "base/clock.h"
#include "job/exit_report.h"
#include "job/spec.h"
#include "process/listeners.h"

namespace gangrun::agent {

// A program that ends for its port does so when it starts.
inline constexpr std::chrono::seconds kPortLossWindow(30);

// The ports that a run may have wanted.
struct RunPorts {
  std::vector<std::uint16_t> held;  // for the task
  job::Hold hold = job::Hold::kUntilBind;
  std::vector<std::uint16_t> told{};  // that the user's variables and command name
};

// Those that the user's own variables, such as MASTER_PORT, and command name.
std::vector<std::uint16_t> ports_told(const Variables& of_job, const Variables& of_task,
                                      const std::vector<std::string>& command);

// Another process that listens on a port.
struct PortUser {
  std::string words{};  // "process 4711 (redis-server) of user 1000"; empty: nobody does
  bool is_of_job = false;
};
using ListenerOf = std::function<PortUser(std::uint16_t)>;

// `owner` of a socket, as a user of a port whose job this is.
PortUser port_user(const process::ListenerOwner& owner, const std::string& job_id);

struct PortEnd {
  // A process of somebody else listens on a port that was held: the run ended for that. Where it
  // is one of the same job, another port would meet it again.
  bool lost = false;
  // Goes on after how the run ended; empty where there is nothing to add.
  std::string words;
};

// Tells what a run's end has to do with its ports. Whether it lost one is decided by who listens
// there; what its program says only helps to explain an ordinary failure. Pure but for
// `listener_of`.
PortEnd judge_ports(const job::ExitReport& report, base::Duration ran, const RunPorts& ports,
                    const ListenerOf& listener_of);

// The facts that an agent knows about its run's end beside how the process ended.
struct RunCircumstances {
  bool has_notice = false;       // of a preemption that has not come yet
  std::string agent_ends_for{};  // why the agent itself ends the run; empty: it does not
  bool lost_port = false;        // PortEnd::lost
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
