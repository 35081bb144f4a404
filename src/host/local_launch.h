#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "job/gpus.h"
#include "job/spec.h"

namespace gangrun::host {

// How a job is started on this machine, beside what its spec says.
struct LocalLaunch {
  std::string agent_program;
  std::string working_folder;  // of the user's commands
  std::string host;            // by which tasks know this machine
  std::string host_reason;     // why by this one
  job::Gpus gpus;              // of this machine, where the job asks for any
  job::Containment containment = job::Containment::kSubreaper;  // decided, not kAuto
  bool serve_tls = false;
  bool verbose = false;  // in the master's log

  friend bool operator==(const LocalLaunch&, const LocalLaunch&) = default;
};

// As it is kept in the job's folder for later masters.
base::Json to_json(const LocalLaunch& launch);
base::Result<LocalLaunch> local_launch_from_json(const base::Json& json);

}  // namespace gangrun::host
