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

// Who else listens on a port: "process 4711 (redis-server) of user 1000"; empty: nobody does.
using ListenerOf = std::function<std::string(std::uint16_t)>;

struct PortEnd {
  // Another process listens on a port that was held: the run ended for that.
  bool lost = false;
  // Goes on after how the run ended; empty where there is nothing to add.
  std::string words;
};

// What a run's end has to do with its ports. Whether it lost one is decided by who listens there;
// what its program says only helps to explain an ordinary failure. Pure but for `listener_of`.
PortEnd judge_ports(const job::ExitReport& report, base::Duration ran, const RunPorts& ports,
                    const ListenerOf& listener_of);

}  // namespace gangrun::agent
