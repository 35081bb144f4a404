#include "cluster/local/host_network.h"

#include <functional>
#include <thread>
#include <utility>

#include "base/format.h"
#include "net/hosts.h"
#include "process/network_namespace.h"

namespace gangrun::cluster {

namespace {

using base::Result;

bool is_ipv4(const std::string& address) { return address.find(':') == std::string::npos; }

// Runs `look`, which must not wait for anybody, in a thread of the namespace's.
template <typename T>
Result<T> look_inside(int name_space, const std::function<Result<T>()>& look) {
  Result<T> seen = base::internal("nothing was seen");
  std::thread([&] {
    const auto entered = process::enter_network_namespace(name_space);
    seen = entered.ok() ? look() : Result<T>(entered.error());
  }).join();
  return seen;
}

// The namespace's address from which packets to the master leave.
Result<std::string> address_toward(int name_space, const std::string& master_address) {
  return look_inside<std::string>(name_space, [&]() -> Result<std::string> {
    GANGRUN_ASSIGN(std::string address, net::local_address_toward(master_address));
    if (net::is_loopback_address(address) || !is_ipv4(address)) {
      return base::unavailable(
          base::format("its address toward {} is {}; allowed: an IPv4 address "
                       "that is not loopback's",
                       master_address, address));
    }
    if (net::has_link(address)) return address;
    return base::unavailable(base::format("the link of its address {} is down", address));
  });
}

// The address of this machine from which packets to the namespace leave.
Result<std::string> find_master_address(int name_space) {
  using Addresses = std::vector<std::string>;
  GANGRUN_ASSIGN(const Addresses addresses,
                 look_inside<Addresses>(name_space, [] { return net::local_addresses(); }));
  for (const std::string& address : addresses) {
    if (!is_ipv4(address)) continue;
    const auto ours = net::local_address_toward(address);
    if (ours.ok() && !net::is_loopback_address(*ours)) return *ours;
  }
  return base::unavailable("it has no IPv4 address that this machine reaches");
}

}  // namespace

Result<HostNetwork> look_at_host(const std::string& name, const std::string& master_address) {
  HostNetwork network;
  GANGRUN_ASSIGN(network.name_space, process::open_network_namespace(name));
  const int fd = network.name_space.get();
  network.master_address = master_address;
  if (master_address.empty()) {
    GANGRUN_ASSIGN(network.master_address, find_master_address(fd));
  }
  GANGRUN_ASSIGN(network.address, address_toward(fd, network.master_address));
  return network;
}

Result<> check_hosts(const std::vector<job::Host>& hosts, const std::string& master_address) {
  for (const job::Host& host : hosts) {
    const auto network = look_at_host(host.name, master_address);
    if (network.ok()) continue;
    return network.error().context(base::format("host {} cannot be used", host.name));
  }
  return {};
}

}  // namespace gangrun::cluster
