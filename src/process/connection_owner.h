#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace gangrun::process {

// The user of the other end of a loopback connection (IPv4): it has `port`, and speaks to
// `own_port`. None where it is gone, or where sockets of several users have these two ports. May
// take tens of milliseconds on a host with many connections.
base::Result<std::optional<uid_t>> connection_owner(std::uint16_t port, std::uint16_t own_port);

// The same from the text of /proc/net/tcp.
std::optional<uid_t> connection_owner_in(std::string_view table, std::uint16_t port,
                                         std::uint16_t own_port);

}  // namespace gangrun::process
