#include "local/host_network.h"

#include <sys/stat.h>

#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "base/format.h"
#include "net/hosts.h"
#include "net/interfaces.h"
#include "process/network_namespace.h"

namespace gangrun::local {

namespace {

using base::Result;

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

// In the namespace: the requested address, or else the one from which packets to the master
// leave.
Result<net::ChosenAddress> find_address(const std::string& master_address,
                                        const std::string& interface) {
  net::ChosenAddress chosen;
  if (interface.empty()) {
    GANGRUN_ASSIGN(chosen.address, net::local_address_toward(master_address));
    chosen.reason = base::format("from which it reaches {}", master_address);
  } else {
    GANGRUN_ASSIGN(chosen,
                   net::choose_address(net::interface_addresses(), interface).context("interface"));
  }
  if (net::is_loopback_address(chosen.address)) {
    return base::unavailable(base::format(
        "its address {} ({}) is a loopback address; allowed: one that the other hosts can reach",
        chosen.address, chosen.reason));
  }
  if (net::has_link(chosen.address)) return chosen;
  return base::unavailable(base::format("the link of its address {} is down", chosen.address));
}

// The address of this machine from which packets to the namespace leave.
Result<std::string> find_master_address(int name_space) {
  using Addresses = std::vector<std::string>;
  GANGRUN_ASSIGN(const Addresses addresses,
                 look_inside<Addresses>(name_space, [] { return net::local_addresses(); }));
  for (const std::string& address : addresses) {
    const auto ours = net::local_address_toward(address);
    if (ours.ok() && !net::is_loopback_address(*ours)) return *ours;
  }
  return base::unavailable("it has no address that this machine can reach");
}

ino_t inode_of(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? info.st_ino : 0;
}

}  // namespace

Result<HostNetwork> look_at_host(const std::string& name, const std::string& master_address,
                                 const std::string& interface) {
  HostNetwork network;
  GANGRUN_ASSIGN(network.name_space, process::open_network_namespace(name));
  const int fd = network.name_space.get();
  network.master_address = master_address;
  if (master_address.empty()) {
    GANGRUN_ASSIGN(network.master_address, find_master_address(fd));
  }
  GANGRUN_ASSIGN(net::ChosenAddress chosen, look_inside<net::ChosenAddress>(fd, [&] {
                   return find_address(network.master_address, interface);
                 }));
  network.address = std::move(chosen.address);
  network.address_reason = base::format("of host {}, {}", name, chosen.reason);
  return network;
}

Result<> check_hosts(const std::vector<job::Host>& hosts, const std::string& master_address,
                     const std::string& interface) {
  std::map<std::string, std::pair<std::string, ino_t>> named;
  for (const job::Host& host : hosts) {
    const auto network = look_at_host(host.name, master_address, interface);
    if (!network.ok()) {
      return network.error().context(base::format("host {} cannot be used", host.name));
    }
    const ino_t inode = inode_of(network->name_space.get());
    const auto [other, is_new] = named.try_emplace(network->address, host.name, inode);
    // One namespace may have two names.
    if (is_new || other->second.second == inode) continue;
    return base::invalid_argument(base::format(
        "hosts {} and {} have one address, {} ({}), so that neither reaches the other; allowed: an "
        "interface or network (--interface) in which each host has an address of its own",
        other->second.first, host.name, network->address, network->address_reason));
  }
  return {};
}

}  // namespace gangrun::local
