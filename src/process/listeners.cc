#include "process/listeners.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <sstream>

#include "base/files.h"
#include "base/format.h"
#include "base/unique_fd.h"
#include "process/proc_fs.h"
#include "process/sock_diag.h"

namespace gangrun::process {

namespace {

// The kernel lists listening sockets before all others, so this is only reached by hosts with about
// 200,000 of them.
constexpr std::size_t kMaxSocketTableBytes = std::size_t{32} << 20U;
// About 400,000 sockets, connected or not.
constexpr std::size_t kMaxConnectionTableBytes = std::size_t{64} << 20U;
constexpr std::string_view kListen = "0A";
constexpr std::size_t kMaxUserMap = 65536;

// "0100007F:1F90" is an address in hexadecimal digits and a port.
std::optional<std::uint16_t> port_in(std::string_view endpoint) {
  const std::size_t colon = endpoint.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto value = parse_number(endpoint.substr(colon + 1), 16);
  if (!value || *value > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(*value);
}

std::optional<TcpSocket> parse_line(std::string_view line) {
  // sl local remote state queues timer retransmits user timeout inode …
  constexpr std::size_t kLocal = 1;
  constexpr std::size_t kRemote = 2;
  constexpr std::size_t kState = 3;
  constexpr std::size_t kUser = 7;
  constexpr std::size_t kInode = 9;
  std::vector<std::string_view> fields;
  while (fields.size() <= kInode) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) return std::nullopt;
    line.remove_prefix(begin);
    const std::size_t end = line.find(' ');
    // A field that ends with the text may be cut.
    if (end == std::string_view::npos) return std::nullopt;
    fields.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  const auto local = port_in(fields[kLocal]);
  const auto remote = port_in(fields[kRemote]);
  const auto user = parse_number(fields[kUser]);
  const auto inode = parse_number(fields[kInode]);
  if (!local || !remote || !user || !inode || fields[kState].size() != 2) return std::nullopt;
  return TcpSocket{.local_port = *local,
                   .remote_port = *remote,
                   .listening = fields[kState] == kListen,
                   .user = static_cast<uid_t>(*user),
                   .inode = *inode};
}

// Adds the listeners of one table. A host without IPv6 has no table for it.
base::Result<> add_listeners(const std::string& table, std::uint16_t port,
                             std::vector<Listener>& found) {
  const base::UniqueFd fd(::open(table.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid() && errno == ENOENT) return {};
  if (!fd.valid()) return base::from_errno(errno, fmt::format("cannot read {}", table));
  std::string text;
  std::size_t read_bytes = 0;
  std::array<char, 16384> buffer{};
  while (read_bytes < kMaxSocketTableBytes) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::from_errno(errno, fmt::format("cannot read {}", table));
    if (got == 0) break;
    read_bytes += static_cast<std::size_t>(got);
    text.append(buffer.data(), static_cast<std::size_t>(got));
    const std::size_t complete = text.rfind('\n') + 1;
    bool others = false;
    for (const TcpSocket& socket : parse_proc_net_tcp(std::string_view(text).substr(0, complete))) {
      others = others || !socket.listening;
      if (socket.listening && socket.local_port == port) {
        found.push_back({.inode = socket.inode, .user = socket.user});
      }
    }
    if (others) break;
    text.erase(0, complete);
  }
  return {};
}

// "": it cannot be read.
std::string own_user_map() {
  auto text = base::read_file("/proc/self/uid_map", kMaxUserMap);
  return text.ok() ? *std::move(text) : std::string();
}

}  // namespace

bool is_known_user(uid_t user, std::string_view user_map) {
  if (user_map.empty()) return true;
  std::istringstream lines{std::string(user_map)};
  for (std::uint64_t inside = 0, outside = 0, count = 0; lines >> inside >> outside >> count;) {
    if (user >= inside && user - inside < count) return true;
  }
  return false;
}

std::vector<TcpSocket> parse_proc_net_tcp(std::string_view text) {
  std::vector<TcpSocket> sockets;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const auto socket = parse_line(text.substr(0, end))) sockets.push_back(*socket);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return sockets;
}

base::Result<std::vector<Listener>> listeners_on(std::uint16_t port) {
  std::vector<Listener> found;
  GANGRUN_TRY(add_listeners("/proc/net/tcp", port, found));
  GANGRUN_TRY(add_listeners("/proc/net/tcp6", port, found));
  return found;
}

base::Result<std::optional<Listener>> foreign_listener(std::uint16_t port,
                                                       const std::vector<int>& own_sockets) {
  GANGRUN_ASSIGN(std::vector<Listener> listeners, listeners_on(port));
  for (const int fd : own_sockets) {
    struct stat own {};
    if (::fstat(fd, &own) != 0) return base::from_errno(errno, "fstat");
    std::erase_if(listeners, [&](const Listener& one) { return one.inode == own.st_ino; });
  }
  if (listeners.empty()) return std::optional<Listener>();
  return std::optional(listeners.front());
}

ListenerOwner owner_of(const Listener& listener, int outer_proc) {
  std::vector<std::string> folders = {"/proc"};
  if (outer_proc >= 0) folders.push_back(fmt::format("/proc/self/fd/{}", outer_proc));
  // The overflow user stands for all that our namespace does not know.
  const std::string user = is_known_user(listener.user, own_user_map())
                               ? fmt::format("user {}", listener.user)
                               : "another user";
  for (const std::string& proc : folders) {
    for (const pid_t pid : all_processes(proc)) {
      const auto inodes = socket_inodes(pid, proc);
      if (std::find(inodes.begin(), inodes.end(), listener.inode) == inodes.end()) continue;
      return {.words = fmt::format("process {} ({}) of {}", pid, process_name(pid, proc), user),
              .is_inside = outer_proc >= 0 && &proc == &folders.front(),
              .environment = read_proc(pid, "environ", proc)};
    }
  }
  return {.words = fmt::format("a process of {}", user)};
}

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
    GANGRUN_ASSIGN(const std::string table,
                   base::read_file("/proc/net/tcp", kMaxConnectionTableBytes));
    owner = connection_owner_in(table, port, own_port);
  }
  return owner;
}

base::Result<std::optional<uid_t>> connection_owner(const std::string& host, std::uint16_t port,
                                                    std::uint16_t own_port) {
  sockaddr_in client{};
  client.sin_family = AF_INET;
  client.sin_port = htons(port);
  sockaddr_in server = client;
  server.sin_port = htons(own_port);
  server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::inet_pton(AF_INET, host.c_str(), &client.sin_addr) == 1) {
    const auto owner = socket_owner(client, server);
    if (owner.ok()) return *owner;
  }
  return connection_owner(port, own_port);
}

}  // namespace gangrun::process
