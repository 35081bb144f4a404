#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/cluster_spec.h"
#include "job/spec.h"
#include "local/slots.h"

namespace gangrun::local {

// Which host of this machine takes the next task. Pure: it is told what a look at a host finds.
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
  // Takes a slot for a task that is there already. False where there is no such host.
  bool take_back(const std::string& host) { return slots_.take_back(host); }
  // Gives back what take() or take_back() took.
  void give_back(const std::string& host);

 private:
  const bool has_hosts_;
  Slots slots_;
  std::map<std::string, std::string> host_of_address_;
};

}  // namespace gangrun::local
