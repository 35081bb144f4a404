#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/cluster_spec.h"
#include "job/spec.h"

namespace gangrun::local {

// Which host of this machine takes the next task: hosts in turn, each as long as it has a free
// slot. Pure: it is told what a look at a host finds.
class HostChoice {
 public:
  // The address of a host, or why it cannot be used now.
  using LookAt = std::function<base::Result<std::string>(const std::string& host)>;

  // Their names are unique. Without any, every task has the host "".
  explicit HostChoice(const std::vector<job::Host>& hosts);

  // Takes a slot: of the host that had `wanted`, else of one that is not in `avoided`, else of one
  // that is. Hosts that cannot be used are passed over. The error says what is missing.
  base::Result<std::string> take(const std::optional<job::Address>& wanted,
                                 const std::vector<std::string>& avoided, const LookAt& look_at);
  // Takes a slot of this host whether it has a free one or not, for a task that is there already.
  // False where there is no such host.
  bool take_back(const std::string& host);
  // Gives back what take() or take_back() took; a slot for each call.
  void give_back(const std::string& host);

 private:
  struct Slots {
    job::Host host;
    int taken = 0;
  };

  // Those of `wanted` if it has a free one, else of the next host in turn that has; never of one
  // in `unusable`. Null: every other slot is taken.
  Slots* free_slots(const std::string& wanted, const std::set<std::string>& unusable);
  Slots* slots_of(const std::string& host);

  std::vector<Slots> slots_;
  std::size_t next_ = 0;  // whose turn it is
  std::map<std::string, std::string> host_of_address_;
};

}  // namespace gangrun::local
