#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "job/spec.h"

namespace gangrun::local {

// Which host takes the next task: hosts in turn, each as long as it has a free slot.
class Slots {
 public:
  // Names are unique.
  explicit Slots(const std::vector<job::Host>& hosts);

  // Takes a slot of `wanted` if it has a free one, else of the next host in turn that has; none of
  // those in `unusable`. None: every other slot is taken.
  std::optional<std::string> take(const std::string& wanted, const std::set<std::string>& unusable);
  // Takes a slot of this host whether it has a free one or not, for a task that is there already.
  // False where there is no such host.
  bool take_back(const std::string& host);
  // Gives back what take() gave; a slot for each call.
  void give_back(const std::string& host);

 private:
  struct Entry {
    job::Host host;
    int taken = 0;

    [[nodiscard]] bool has_room() const { return !host.slots || taken < *host.slots; }
  };

  std::vector<Entry> entries_;
  std::size_t next_ = 0;
};

}  // namespace gangrun::local
