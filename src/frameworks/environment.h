#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/cluster_spec.h"
#include "job/spec.h"

namespace gangrun::frameworks {

// Names the job in the environment of each of its processes.
inline constexpr const char* kJobIdVariable = "GANGRUN_JOB_ID";
inline constexpr const char* kKeysVariable = "GANGRUN_KV";
// All that one command beside the task has started has it, with a value of its own.
inline constexpr const char* kExecVariable = "GANGRUN_EXEC";

using Variables = std::map<std::string, std::string>;

// A larger cluster spec is handed over in a file.
inline constexpr std::size_t kMaxClusterSpecInEnvironment = std::size_t{32} << 10U;
// Name, '=', value and the final zero of one variable: Linux refuses to start a program with more.
inline constexpr std::size_t kMaxVariableBytes = std::size_t{128} << 10U;

[[nodiscard]] constexpr bool fits_in_variable(std::string_view name, std::string_view value) {
  return name.size() + value.size() + 2 <= kMaxVariableBytes;
}

// The inputs that are the same for all processes of one task.
struct Inputs {
  const job::JobSpec& job;
  const job::ClusterSpec& cluster;
  std::string job_id;
  // How often this task was started before in this job.
  int restarts = 0;
  // The file for a cluster spec that is too large for a variable.
  std::string cluster_spec_file{};
  // The file in which it finds when its place takes it away, once that is known; empty: none.
  std::string notice_file{};
  std::string result_file{};
  std::string figures_file{};
  // The address at which the task's agent answers for the keys of the job: "127.0.0.1:40311".
  std::string keys_address{};
  // Whether the environment that the task inherits already has OMP_NUM_THREADS.
  bool inherits_omp_num_threads = false;
  // The same of PYTHONUNBUFFERED, whatever its value.
  bool inherits_python_unbuffered = false;
  // The address that the agent holds for the task. Only a sidecar needs it: it stands in no cluster
  // spec.
  std::optional<job::Address> own_address{};
  // Held for the task beside the port of its address, in the order of the job's names.
  std::vector<std::uint16_t> more_ports{};
  // The port of 127.0.0.1 at which the agent serves the rendezvous, and for Horovod the interface
  // of this machine that has the task's address.
  std::optional<std::uint16_t> rendezvous_port{};
  // Whether the task is told that port whatever its framework: it hears there from who feeds it.
  bool tells_rendezvous = false;
  std::string interface {};
};

struct Environment {
  Variables variables;
  // Among the processes of all tracked tasks; none: the task is not tracked.
  std::optional<int> rank;
  // When not empty: what the caller must have written to Inputs::cluster_spec_file before the
  // process starts. GANGRUN_CLUSTER_SPEC_FILE then names it, and GANGRUN_CLUSTER_SPEC is absent.
  std::string cluster_spec_file_content;

  friend bool operator==(const Environment&, const Environment&) = default;
};

// The variables that process `process` of `task` finds (docs/variables.md), by the frameworks that
// the job names. To the process, its task's index is the place that the cluster spec gives it. An
// error where the place is not one of the job and its cluster spec, or where what a named framework
// needs does not fit into a variable.
base::Result<Environment> environment_of(const Inputs& inputs, const job::TaskId& task,
                                         int process);

// Whether the frameworks that the job names can be served as it uses them; the error names the
// field. To be asked before anything is started.
base::Result<> check(const job::JobSpec& job);

// Whether the tasks of the job read no more of a cluster spec than its outline says: how many there
// are, and where the first is. Then a spec that would not fit into GANGRUN_CLUSTER_SPEC need not be
// sent to each of them.
[[nodiscard]] bool is_content_with_outline(const job::JobSpec& job);

// Whether the agent of `task` has to serve the rendezvous for its framework: its processes meet by
// Horovod's, in a job that names it.
[[nodiscard]] bool needs_rendezvous(const job::JobSpec& job, const job::TaskId& task);

// A name of ours, which a task neither inherits nor sets: what it says is true of one job only. But
// where jobs are kept (GANGRUN_HOME) is the same for a gangrun that a task starts.
[[nodiscard]] bool is_reserved(std::string_view name);

}  // namespace gangrun::frameworks
