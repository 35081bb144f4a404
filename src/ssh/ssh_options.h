#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/spec.h"
#include "jobfile/place_rules.h"
#include "jobfile/section.h"
#include "ssh/keeper_messages.h"

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

// The parts of a job that these hosts take, whatever they have.
jobfile::PlaceRules ssh_rules();

// Whether the hosts have the GPUs that the job asks for: `hosts` with what each has said of itself.
base::Result<> check_gpus(const job::JobSpec& spec, const std::vector<int>& gpus_of_hosts);

// Whether a host can run the tasks that have an image: any host may get them.
base::Result<> check_engine(const job::JobSpec& spec, const std::string& host,
                            const HelloMessage& hello);

}  // namespace gangrun::ssh
