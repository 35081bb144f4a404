#include "agent/loopback_peer.h"

#include <unistd.h>

#include "base/format.h"
#include "job/cluster_spec.h"
#include "process/connection_owner.h"

namespace gangrun::agent {

std::string objection_to(const net::Peer& peer, std::uint16_t port) {
  const auto address = job::parse_address(peer.address);
  if (!address.ok()) return "its address is not known";
  const auto owner = process::connection_owner(address->port, port);
  if (!owner.ok()) return owner.error().message;
  if (!*owner) return "whose connection it is cannot be told";
  if (**owner == ::geteuid() || **owner == 0) return "";
  return base::format("it belongs to user {}", **owner);
}

}  // namespace gangrun::agent
