#include "host/silent_master.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/format.h"
#include "base/unique_fd.h"
#include "process/wait_for.h"

namespace gangrun::host {

namespace {

using base::Result;

base::Error nobody_listens(const std::string& path) {
  return base::unavailable(base::format("nobody listens at {}", path));
}

// The kernel takes the connection for a process that is stopped, too.
Result<pid_t> listener_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return nobody_listens(path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const base::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return base::from_errno(errno, "cannot make a socket");
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const bool is_nobody = errno == ENOENT || errno == ECONNREFUSED;
    return is_nobody ? nobody_listens(path) : base::from_errno(errno, "connect to " + path);
  }
  ucred listener{};
  socklen_t size = sizeof listener;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &listener, &size) != 0) {
    return base::from_errno(errno, base::format("cannot see who listens at {}", path));
  }
  // It is in a PID namespace that we do not see.
  if (listener.pid <= 0) return nobody_listens(path);
  return listener.pid;
}

}  // namespace

Result<process::ProcessHandle> listening_master(const JobPaths& paths) {
  GANGRUN_ASSIGN(const pid_t pid, listener_at(paths.socket()));
  auto master = process::ProcessHandle::open(pid);
  // If it listens still, its number was its own when the handle was made.
  GANGRUN_ASSIGN(const pid_t again, listener_at(paths.socket()));
  if (!master.valid() || again != pid) return nobody_listens(paths.socket());
  return master;
}

Result<> kill_master(const process::ProcessHandle& master, base::Instant deadline) {
  if (!master.signal(SIGKILL) && errno != ESRCH) {
    return base::from_errno(errno, base::format("cannot kill process {}", master.pid()));
  }
  if (process::wait_readable(master.end_fd(), deadline)) return {};
  return base::deadline_exceeded(
      base::format("process {} was killed, and has not ended yet", master.pid()));
}

}  // namespace gangrun::host
