#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "job/task_id.h"

namespace gangrun::kubernetes::pods {

// The port of an agent in a pod with a network of its own.
inline constexpr std::uint16_t kHintPort = 17402;
// On its node's network there may be others: it takes the first of so many that is free. They are
// below those that the kernel and node ports use.
inline constexpr std::size_t kHintPortChoices = 4;
inline constexpr std::uint16_t kFirstHostHintPort = 20000;
inline constexpr std::uint16_t kHostHintPorts = 10000;

// Whether pods of this template are on their node's network.
[[nodiscard]] bool is_on_host_network(const base::Json& pod);

// The ports of 127.0.0.1 at which the task's agent may hear of its master (hint_door.h), the same
// for whoever asks. Pure.
std::vector<std::uint16_t> hint_ports(const std::string& job_id, const job::TaskId& task,
                                      bool is_on_host_network);

}  // namespace gangrun::kubernetes::pods
