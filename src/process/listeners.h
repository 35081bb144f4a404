#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gangrun::process {

// A line of /proc/net/tcp or /proc/net/tcp6.
struct TcpSocket {
  std::uint16_t local_port = 0;
  std::uint16_t remote_port = 0;
  bool listening = false;
  uid_t user = 0;
  std::uint64_t inode = 0;  // 0: the process has closed it
};

// The sockets in the text of /proc/net/tcp or tcp6, in its order. Lines that are not understood,
// such as the heading and a last one that is cut, are left out.
std::vector<TcpSocket> parse_proc_net_tcp(std::string_view text);

// A socket that listens on a port of this host's (or container's) network.
struct Listener {
  std::uint64_t inode = 0;
  uid_t user = 0;

  friend bool operator==(const Listener&, const Listener&) = default;
};

// The listener on `port`, on any address, IPv4 or IPv6. May take tens of milliseconds on a host
// with many connections: for each change of state and now and then, not for a tight loop.
base::Result<std::vector<Listener>> listeners_on(std::uint16_t port);

// A listener on `port` that is not one of `own_sockets`: somebody else listens there. A socket of
// ours that a task inherited and listened on stays a listener when the task is dead.
base::Result<std::optional<Listener>> foreign_listener(std::uint16_t port,
                                                       const std::vector<int>& own_sockets);

// The user of the other end of a connection to 127.0.0.1:`own_port`: it has `port` of `host`, an
// IPv4 address. None where it is gone. Takes microseconds; where the kernel does not find it, or
// cannot look up one socket, this calls the one below.
base::Result<std::optional<uid_t>> connection_owner(const std::string& host, std::uint16_t port,
                                                    std::uint16_t own_port);

// The same for any address of the other end, by ports only, with /proc/net/tcp. None where sockets
// of several users have these two ports, too. May take tens of milliseconds on a host with many
// connections.
base::Result<std::optional<uid_t>> connection_owner(std::uint16_t port, std::uint16_t own_port);

// The same from the text of /proc/net/tcp.
std::optional<uid_t> connection_owner_in(std::string_view table, std::uint16_t port,
                                         std::uint16_t own_port);

// Whether a user namespace with this /proc/PID/uid_map knows the user; "": there is none to know.
bool is_known_user(uid_t user, std::string_view user_map);

// The process that has it.
struct ListenerOwner {
  // "process 4711 (redis-server) of user 1000", or as much of it as we may see
  std::string words{};
  bool is_inside = false;     // of a PID namespace that is ours; false where there is none
  std::string environment{};  // as /proc shows it, each variable with a zero byte; "" if hidden
};

// `outer_proc` is an open /proc that shows more than ours, of the namespace outside; -1: there is
// none. Looks through all processes: for the one message that tells a person, not for a loop.
ListenerOwner owner_of(const Listener& listener, int outer_proc = -1);

}  // namespace gangrun::process
