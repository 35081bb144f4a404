#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gang/gang.h"
#include "job/status.h"

namespace gangrun::master {

// What the gang does not need to know of a task, and people want to see.
struct TaskFacts {
  std::int64_t pid = 0;
  std::int64_t memory_bytes = 0;
  double cpu_seconds = 0;
  std::string last_line;
  std::vector<std::uint16_t> more_ports;  // beside that of its address
  std::string address_reason;
};

// The task as people see it; `facts` is null where its agent has told nothing yet. `port_names` are
// those of its type.
job::TaskStatus status_of(const gang::Task& task, const TaskFacts* facts,
                          const std::vector<std::string>& port_names);

}  // namespace gangrun::master
