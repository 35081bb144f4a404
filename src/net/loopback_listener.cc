#include "net/loopback_listener.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "base/format.h"

namespace gangrun::net {

namespace {

constexpr int kMaxWaiting = 128;
// Without a free descriptor nothing can be accepted, and the socket stays readable.
constexpr std::chrono::milliseconds kRetryPause(100);

}  // namespace

LoopbackListener::LoopbackListener(EventLoop& loop,
                                   std::function<void(base::UniqueFd)> on_connection)
    : loop_(loop), on_connection_(std::move(on_connection)) {}

base::Result<std::uint16_t> LoopbackListener::listen(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const int on = 1;
  socket_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_.valid() ||
      ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(socket_.get(), generic, size) != 0 || ::listen(socket_.get(), kMaxWaiting) != 0 ||
      ::getsockname(socket_.get(), generic, &size) != 0) {
    return base::from_errno(errno, base::format("listen on 127.0.0.1:{}", port));
  }
  accept_from_now_on();
  return ntohs(address.sin_port);
}

void LoopbackListener::accept_from_now_on() {
  watch_ = loop_.watch_readable(socket_.get(), [this] { on_readable(); });
}

void LoopbackListener::on_readable() {
  base::UniqueFd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.valid()) return on_connection_(std::move(socket));
  if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR) return;
  watch_.reset();
  pause_ = loop_.after(kRetryPause, [this] { accept_from_now_on(); });
}

}  // namespace gangrun::net
