#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/found_outputs.h"

namespace gangrun::ssh {

// How the bringing of what a host's tasks have written went.
struct HostReport {
  std::string host;
  std::string folder;  // where it lies on the host
  std::uint64_t files = 0;
  std::uint64_t folders = 0;  // empty ones
  std::uint64_t bytes = 0;
  // As the host says: over the limit, and not there at all.
  std::vector<std::string> left{};
  std::uint64_t left_files = 0;
  std::uint64_t left_bytes = 0;
  std::vector<cluster::OddOutput> odd{};  // that cannot be brought
  std::uint64_t odd_files = 0;
  std::vector<std::string> missing{};
  std::string failure{};  // empty: all was brought
  bool is_gone = false;   // the folder
};

// One sentence for each thing that its user is to know; of the hosts that are like others, one for
// all. `folder` has a folder for each host. `are_kept`: the hosts keep their folders.
std::vector<std::string> outputs_report(const std::vector<HostReport>& hosts,
                                        const std::string& folder, std::int64_t limit_mib,
                                        bool are_kept);

}  // namespace gangrun::ssh
