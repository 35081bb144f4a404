#pragma once

#include <cstdint>
#include <string>

#include "net/http.h"

namespace gangrun::agent {

// Why the process at the other end of a connection to `port` of 127.0.0.1 gets nothing; empty when
// it does, as it is of this user or of root.
[[nodiscard]] std::string objection_to(const net::Peer& peer, std::uint16_t port);

}  // namespace gangrun::agent
