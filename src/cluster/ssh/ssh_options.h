#pragma once

#include <string>

#include "job/section.h"
#include "job/spec.h"

namespace gangrun::cluster {

// What only hosts that ssh reaches are told.
struct SshOptions {
  std::string config;    // a file of the client's machine; empty: as ssh finds it
  std::string hostfile;  // a file of the client's machine with the hosts; empty: none
  std::string folder;    // on the hosts, absolute; empty: the first that can be used

  static const job::Section& section();

  friend bool operator==(const SshOptions&, const SshOptions&) = default;
};

inline const SshOptions& ssh_of(const job::JobSpec& job) { return job.sections.get<SshOptions>(); }
inline SshOptions& edit_ssh(job::JobSpec& job) { return job.sections.edit<SshOptions>(); }

}  // namespace gangrun::cluster
