#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "job/spec.h"

namespace gangrun::ssh {

// Which host takes the next task. Hosts are filled one after another, so that ranks which follow
// each other are on one host as far as they can. A host without a number of slots has its even
// share of the tasks, and takes more only where all shares are taken.
class HostSlots {
 public:
  // Names are unique. `tasks`: how many there will be, with spares.
  HostSlots(const std::vector<job::Host>& hosts, int tasks);

  // The index of the host whose slot is taken: `wanted` (its name) if it has a free one. None:
  // every other slot than of those in `unusable` is taken.
  std::optional<std::size_t> take(const std::string& wanted, const std::set<std::string>& unusable);
  // Takes a slot of this host whether it has a free one or not, for a task that is there already.
  void take_back(std::size_t host) { ++entries_[host].taken; }
  // Gives back what take() gave; a slot for each call.
  void give_back(std::size_t host) { --entries_[host].taken; }

 private:
  struct Entry {
    std::string name;
    int share = 0;
    bool takes_any = false;
    int taken = 0;
  };

  std::vector<Entry> entries_;
};

}  // namespace gangrun::ssh
