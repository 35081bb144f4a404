#pragma once

#include <string>
#include <string_view>
#include <tuple>

#include "base/described.h"
#include "job/gpus.h"
#include "job/json_text.h"
#include "job/spec.h"

namespace gangrun::host {

// Why tasks of this machine have the address that they have where nobody chose one.
inline constexpr std::string_view kDefaultAddressReason =
    "as all tasks are on this machine; --interface chooses another";

// How a job is started on this machine, beside what its spec says. Kept in the job's folder for
// later masters.
struct LocalLaunch {
  std::string agent_program;
  std::string working_folder;  // of the user's commands
  std::string host;            // by which tasks know this machine
  std::string host_reason;     // why by this one
  job::Gpus gpus;              // of this machine, where the job asks for any
  job::Containment containment = job::Containment::kSubreaper;  // decided, not kAuto
  bool serve_tls = false;
  bool verbose = false;  // in the master's log
  // The remark that the job's user is to read from the beginning; empty: none.
  std::string remark{};

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(GANGRUN_EACH(base::row, LocalLaunch, agent_program, working_folder, host,
                                   host_reason, gpus, containment, serve_tls, verbose),
                      base::late_row("remark", &LocalLaunch::remark, job::Told{base::kAnyNumber}));
  }

  friend bool operator==(const LocalLaunch&, const LocalLaunch&) = default;
};

// The address at which the registry is served by TLS: the one that was named or chosen for this
// machine. Empty: at all, as it has only a name, or nobody has named one and `serve_tls` is for
// other hosts, or tasks on `other_hosts` come to whichever address leads to them.
std::string listen_address_of(const LocalLaunch& launch, bool other_hosts);

}  // namespace gangrun::host
