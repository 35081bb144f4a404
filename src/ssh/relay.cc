#include "ssh/relay.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <variant>

#include "base/format.h"
#include "base/overloaded.h"
#include "net/tunnel.h"
#include "net/tunnel_flow.h"
#include "ssh/link_window.h"

namespace gangrun::ssh {

namespace {

// All agents of a host may come at once. The kernel may allow fewer (net.core.somaxconn).
constexpr int kBacklog = 4096;
constexpr std::chrono::milliseconds kAcceptPause(100);
// The least window has four times that on the way.
constexpr std::size_t kTellTaken = LinkWindow::kLeast / 4;

base::Result<sockaddr_un> address_of_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return base::invalid_argument(base::format("{} is too long for a socket; allowed: {} bytes",
                                               path, sizeof(address.sun_path) - 1));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

base::Result<base::UniqueFd> new_socket() {
  base::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return base::from_errno(errno, "socket");
  return fd;
}

base::Result<base::UniqueFd> connect_to_socket(const std::string& path) {
  GANGRUN_ASSIGN(const sockaddr_un address, address_of_socket(path));
  GANGRUN_ASSIGN(base::UniqueFd fd, new_socket());
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return base::from_errno(errno, base::format("connect to {}", path));
  }
  return fd;
}

}  // namespace

struct Relay::Stream {
  base::UniqueFd socket;
  net::TunnelFlow flow{kTellTaken};
  LinkWindow window;
  std::string out;  // for the socket
  net::Watch readable;
  net::Watch writable;
};

Relay::Relay(net::EventLoop& loop, std::function<void(const Frame&)> send)
    : loop_(loop), send_(std::move(send)) {}

Relay::~Relay() = default;

base::Result<> Relay::listen(const std::string& path) {
  GANGRUN_ASSIGN(const sockaddr_un address, address_of_socket(path));
  GANGRUN_ASSIGN(listener_, new_socket());
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return base::from_errno(errno, base::format("unlink {}", path));
  }
  // The folder is ours alone, so nobody else comes before the mode is set.
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(listener_.get(), kBacklog) != 0) {
    return base::from_errno(errno, base::format("listen at {}", path));
  }
  accept_from_now_on();
  return {};
}

void Relay::accept_from_now_on() {
  accept_watch_ = loop_.watch_readable(listener_.get(), [this] { accept(); });
}

void Relay::accept() {
  base::UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.valid()) {
    if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR) return;
    // No descriptor is free: it waits in the kernel.
    accept_watch_.reset();
    accept_pause_ = loop_.after(kAcceptPause, [this] { accept_from_now_on(); });
    return;
  }
  if (streams_.size() == kMaxStreams) return;
  const std::uint32_t id = next_++;
  send_(OpenFrame{id});
  add(id, std::move(socket));
}

void Relay::add(std::uint32_t id, base::UniqueFd socket) {
  auto stream = std::make_unique<Stream>();
  stream->socket = std::move(socket);
  streams_[id] = std::move(stream);
  read_on(id);
}

void Relay::on_frame(const OpenFrame& frame) {
  if (streams_.contains(frame.stream)) return break_off(frame.stream);
  if (streams_.size() == kMaxStreams) return send_(StreamFrame{frame.stream, {}});
  auto socket = connect_to_socket(target_);
  // The one who connected tries again.
  if (!socket.ok()) return send_(StreamFrame{frame.stream, {}});
  add(frame.stream, *std::move(socket));
}

void Relay::on_frame(const StreamFrame& frame) {
  const auto found = streams_.find(frame.stream);
  // Both sides may break it at once.
  if (found == streams_.end()) return;
  if (frame.content.empty()) return drop(frame.stream);
  Stream& stream = *found->second;
  const std::size_t on_the_way = stream.flow.on_the_way();
  const auto message = stream.flow.on_message(frame.content);
  if (!message.ok()) return break_off(frame.stream);
  stream.window.taken(on_the_way - stream.flow.on_the_way(), loop_.now());
  std::visit(base::Overloaded{
                 [](const net::TunnelOpened& /*each*/) {},
                 [&](const net::TunnelData& data) { stream.out += data.bytes; },
                 [&](const net::TunnelEnd& /*each*/) { tell_taken(frame.stream, 0); },
                 [&](const net::TunnelTaken& /*each*/) { read_on(frame.stream); },
             },
             *message);
  write(frame.stream);
}

void Relay::tell_taken(std::uint32_t id, std::size_t bytes) {
  if (const auto message = streams_.at(id)->flow.taken(bytes)) send_(StreamFrame{id, *message});
}

std::size_t Relay::may_send(const Stream& stream) {
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(stream.flow.may_send(), stream.window.room()));
}

// Bytes that may not be sent to the other side yet are left in the socket.
void Relay::read_on(std::uint32_t id) {
  Stream& stream = *streams_.at(id);
  if (may_send(stream) == 0) return stream.readable.reset();
  if (stream.readable.active()) return;
  stream.readable = loop_.watch_readable(stream.socket.get(), [this, id] { read(id); });
}

void Relay::read(std::uint32_t id) {
  Stream& stream = *streams_.at(id);
  std::string bytes(may_send(stream), '\0');
  const ssize_t size = ::recv(stream.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size < 0) return break_off(id);
  if (size == 0) {
    send_(StreamFrame{id, stream.flow.end()});
    stream.readable.reset();
    return look_for_end(id);
  }
  stream.window.sent(static_cast<std::uint64_t>(size), loop_.now());
  send_(StreamFrame{
      id, stream.flow.data(std::string_view(bytes).substr(0, static_cast<std::size_t>(size)))});
  read_on(id);
}

void Relay::write(std::uint32_t id) {
  Stream& stream = *streams_.at(id);
  const net::SentBytes sent = net::send_what_fits(stream.socket.get(), stream.out);
  if (sent.error_number != 0) return break_off(id);
  if (sent.bytes > 0) tell_taken(id, sent.bytes);
  if (!stream.out.empty()) {
    if (!stream.writable.active()) {
      stream.writable = loop_.watch_writable(stream.socket.get(), [this, id] { write(id); });
    }
    return;
  }
  stream.writable.reset();
  if (stream.flow.other_has_ended()) (void)::shutdown(stream.socket.get(), SHUT_WR);
  look_for_end(id);
}

// The other side may still have to be told what was taken.
void Relay::look_for_end(std::uint32_t id) {
  const Stream& stream = *streams_.at(id);
  const bool ended = stream.flow.has_ended() && stream.flow.other_has_ended();
  if (ended && stream.out.empty() && stream.flow.on_the_way() == 0) drop(id);
}

void Relay::break_off(std::uint32_t id) {
  send_(StreamFrame{id, {}});
  drop(id);
}

// Its watches may be what calls us.
void Relay::drop(std::uint32_t id) {
  const auto found = streams_.find(id);
  std::shared_ptr<Stream> gone = std::move(found->second);
  streams_.erase(found);
  gone->readable.reset();
  gone->writable.reset();
  loop_.post([gone] { gone->socket.reset(); });
}

void Relay::break_all() {
  while (!streams_.empty()) drop(streams_.begin()->first);
}

}  // namespace gangrun::ssh
