#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ssh/keeper_messages.h"

namespace gangrun::ssh {

// How the bringing of what a host's tasks have written went.
struct HostReport {
  std::string host;
  std::string folder;  // where it lies on the host
  std::uint64_t files = 0;
  std::uint64_t folders = 0;  // empty ones
  std::uint64_t bytes = 0;
  BroughtMessage said{};  // by the host; its failure may be ours
};

// One sentence for each thing that its user is to know; of the hosts that are like others, one for
// all. `folder` has a folder for each host. `are_kept`: the hosts keep their folders.
std::vector<std::string> outputs_report(const std::vector<HostReport>& hosts,
                                        const std::string& folder, std::int64_t limit_mib,
                                        bool are_kept);

}  // namespace gangrun::ssh
