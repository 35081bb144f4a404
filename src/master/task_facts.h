#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "gang/gang.h"
#include "job/status.h"

namespace gangrun::master {

// What the gang does not need to know of a task, and people want to see.
struct TaskFacts {
  std::int64_t pid = 0;
  std::int64_t memory_bytes = 0;
  double cpu_seconds = 0;
  std::string last_line;
  std::string incomplete_log;             // as job::TaskStatus has it
  std::string lost_outputs;               // likewise
  bool has_begun = false;                 // a run, whose end is not told
  std::vector<std::uint16_t> more_ports;  // beside that of its address
  std::string address_reason;
  job::Figures figures;
  // When its place may take it away, where that is known; its agent is told.
  std::optional<base::Instant> preempted_at;
};

// None where nothing is known of one; 0 where it may happen at any time.
std::optional<std::chrono::milliseconds> time_to_preemption(const TaskFacts& facts,
                                                            base::Instant now);

// The task as people see it; `facts` is null where its agent has told nothing yet. `port_names` are
// those of its type.
job::TaskStatus status_of(const gang::Task& task, const TaskFacts* facts,
                          const std::vector<std::string>& port_names);

}  // namespace gangrun::master
