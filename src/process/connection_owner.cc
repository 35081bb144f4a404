#include "process/connection_owner.h"

#include <string>

#include "base/files.h"
#include "process/listeners.h"

namespace gangrun::process {

namespace {

// About 400,000 sockets.
constexpr std::size_t kMaxTableBytes = std::size_t{64} << 20U;

}  // namespace

// A socket that its process has closed (inode 0) is listed as root's, whoever had it.
std::optional<uid_t> connection_owner_in(std::string_view table, std::uint16_t port,
                                         std::uint16_t own_port) {
  std::optional<uid_t> owner;
  for (const TcpSocket& socket : parse_proc_net_tcp(table)) {
    if (socket.local_port != port || socket.remote_port != own_port || socket.listening) continue;
    if (socket.inode == 0 || (owner && *owner != socket.user)) return std::nullopt;
    owner = socket.user;
  }
  return owner;
}

base::Result<std::optional<uid_t>> connection_owner(std::uint16_t port, std::uint16_t own_port) {
  // A line can be missing where many sockets come and go while the table is read.
  constexpr int kLooks = 3;
  std::optional<uid_t> owner;
  for (int look = 0; look < kLooks && !owner; ++look) {
    GANGRUN_ASSIGN(const std::string table, base::read_file("/proc/net/tcp", kMaxTableBytes));
    owner = connection_owner_in(table, port, own_port);
  }
  return owner;
}

}  // namespace gangrun::process
