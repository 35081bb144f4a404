#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "job/spec.h"

namespace gangrun::local {

// The resources of this machine.
struct Machine {
  std::int64_t memory_mib = 0;
  int vcores = 0;
  int gpus = 0;
  // The cgroup whose limit is that of the memory, or of the vcores; empty: the machine has no more.
  std::string memory_limited_by{};
  std::string vcores_limited_by{};
};

// A sentence with both numbers if the machine can never fulfil the whole gang's requests. vcores
// are a wish (they share), memory and GPUs are not.
base::Result<> check_fits(const job::JobSpec& spec, const Machine& machine);

}  // namespace gangrun::local
