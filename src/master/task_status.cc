#include "master/task_status.h"

#include <algorithm>

namespace gangrun::master {

namespace {

// All of them, the one in the cluster spec first.
std::vector<job::TaskPort> ports_of(std::uint16_t first, const std::vector<std::uint16_t>& more,
                                    const std::vector<std::string>& names) {
  std::vector<job::TaskPort> ports{{"", first}};
  for (const std::uint16_t port : more) ports.push_back({"", port});
  for (std::size_t i = 0; i < std::min(names.size(), ports.size()); ++i) ports[i].name = names[i];
  return ports;
}

}  // namespace

job::TaskStatus status_of(const gang::Task& task, const cluster::TaskFacts* facts,
                          const std::vector<std::string>& port_names) {
  job::TaskStatus status;
  status.task = task.id;
  status.policy = task.policy;
  status.state = gang::state_of(task);
  status.attempt = task.attempt;
  if (task.address.port != 0) status.address = job::to_string(task.address);
  // Between its runs that of the last one is no part of its state.
  if (job::is_final(status.state)) status.exit = task.exit;
  if (facts == nullptr) return status;
  status.pid = facts->pid;
  status.memory_bytes = facts->memory_bytes;
  status.cpu_seconds = facts->cpu_seconds;
  status.last_line = facts->last_line;
  status.incomplete_log = facts->incomplete_log;
  status.lost_outputs = facts->lost_outputs;
  status.address_reason = facts->address_reason;
  status.figures = facts->figures;
  if (task.address.port != 0) {
    status.ports = ports_of(task.address.port, facts->more_ports, port_names);
  }
  return status;
}

}  // namespace gangrun::master
