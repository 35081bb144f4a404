#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "job/gpus.h"
#include "job/spec.h"

namespace gangrun::host {

// Why tasks of this machine have the address that they have where nobody chose one.
inline constexpr std::string_view kDefaultAddressReason =
    "as all tasks are on this machine; --interface chooses another";

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
  // What the job's user is to know of it from the beginning; empty: nothing.
  std::string remark{};

  friend bool operator==(const LocalLaunch&, const LocalLaunch&) = default;
};

// At which address the registry is served by TLS: the one that was named or chosen for this
// machine. Empty: at all, as it has only a name, or nobody has named one and `serve_tls` is for
// other hosts, or tasks on `other_hosts` come to whichever address leads to them.
std::string listen_address_of(const LocalLaunch& launch, bool other_hosts);

// As it is kept in the job's folder for later masters.
base::Json to_json(const LocalLaunch& launch);
base::Result<LocalLaunch> local_launch_from_json(const base::Json& json);

}  // namespace gangrun::host
