#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "job/spec.h"

namespace gangrun::local {

// One host of the local cluster: a network namespace of this machine that can be used now.
struct HostNetwork {
  base::UniqueFd name_space;
  std::string address;         // by which the other hosts are to know it
  std::string address_reason;  // why by this one
  std::string master_address;  // of this machine, as the host reaches it
};

// `master_address` is a numeric address of this machine; empty: the one from which this machine
// reaches the host. `interface` chooses the host's own address (net::choose_address); empty: the
// one from which it reaches the master. The error says why the host cannot be used: unknown, no
// rights, no address, a link that is down.
base::Result<HostNetwork> look_at_host(const std::string& name, const std::string& master_address,
                                       const std::string& interface);

// The first error that look_at_host() has for one of the hosts.
base::Result<> check_hosts(const std::vector<job::Host>& hosts, const std::string& master_address,
                           const std::string& interface);

}  // namespace gangrun::local
