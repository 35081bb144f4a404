#pragma once

#include <string>
#include <string_view>

#include "job/spec.h"
#include "jobfile/section.h"

namespace gangrun::ssh {

// The value of `on` for these hosts.
inline constexpr std::string_view kSsh = "ssh";

// The options of hosts that ssh reaches.
struct SshOptions {
  std::string config;    // a file of the client's machine; empty: as ssh finds it
  std::string hostfile;  // a file of the client's machine with the hosts; empty: none
  std::string folder;    // on the hosts, absolute; empty: the first that can be used

  static constexpr std::string_view kKey = kSsh;
  static const jobfile::Section& section();

  friend bool operator==(const SshOptions&, const SshOptions&) = default;
};

inline const SshOptions& ssh_of(const job::JobSpec& job) { return job.sections.get<SshOptions>(); }
inline SshOptions& edit_ssh(job::JobSpec& job) { return job.sections.edit<SshOptions>(); }

}  // namespace gangrun::ssh
