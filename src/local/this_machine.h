#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "job/gpus.h"
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

// With these GPUs.
Machine this_machine(const job::Gpus& gpus);

// A sentence with both numbers if the machine can never fulfil the whole gang's requests. vcores
// are a wish (they share), memory and GPUs are not.
base::Result<> check_fits(const job::JobSpec& spec, const Machine& machine);

// The folders in which the kernel tells of the machine; others in tests.
struct MachineSources {
  std::string meminfo = "/proc/meminfo";
  std::string own_cgroup = "/proc/self/cgroup";
  std::string mountinfo = "/proc/self/mountinfo";
  std::string root{};  // before the folders that mountinfo names
};

// The limit of a resource, and the file that sets it.
struct Usable {
  std::int64_t amount = 0;
  std::string limited_by{};  // the cgroup whose limit it is; empty: the machine has no more

  friend bool operator==(const Usable&, const Usable&) = default;
};

// Memory in MiB, of the machine or of the cgroups (of both versions) that we are in, where that is
// less. 0 where it cannot be told.
Usable usable_memory_mib(const MachineSources& sources);

// Cores that this process may run on; where the quotas of its cgroups give less time than these
// have, so many as would have that time, rounded up.
Usable usable_cores(const MachineSources& sources);

// The level that the job wants, or the best that this host permits: never kAuto. Tries them for
// real. kFailedPrecondition: the host does not permit the level that is wanted.
base::Result<job::Containment> choose_containment(job::Containment wanted);

}  // namespace gangrun::local
