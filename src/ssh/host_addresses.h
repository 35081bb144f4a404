#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "net/interfaces.h"
#include "ssh/keeper_messages.h"

// The choice of the addresses by which the hosts of a job know each other.
namespace gangrun::ssh {

struct SeenHost {
  std::string name;
  // The address by which ssh reached it, or that of the requested interface, and why.
  net::ChosenAddress address;
  std::vector<std::string> own_addresses;  // others that it has, none of them loopback
  // The id that hosts with one network stack, such as one machine that was named twice, have in
  // common; empty: not known.
  std::string network;
};

SeenHost seen_host(const std::string& name, const HelloMessage& hello);

struct HostAddresses {
  std::vector<net::ChosenAddress> of_hosts;  // in their order
  std::vector<std::string> remarks;          // what the user is to know
};

// A loopback address is taken where all hosts are one machine that is reached by loopback; else
// another address of that host. The error: others cannot reach a host, or two hosts have one
// address. `interface`: what the job asks for; may be empty. Pure.
base::Result<HostAddresses> choose_addresses(const std::vector<SeenHost>& hosts,
                                             const std::string& interface);

}  // namespace gangrun::ssh
