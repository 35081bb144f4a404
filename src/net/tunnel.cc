#include "net/tunnel.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>
#include <variant>

#include "base/format.h"
#include "base/overloaded.h"

namespace gangrun::net {

namespace {

// Messages that a slow network has not taken; each byte of them is in the window too.
constexpr std::size_t kMaxTunnelBytes = std::size_t{8} << 20U;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// If nobody listens, a socket that is given that very port by the kernel reaches itself.
bool reaches_itself(int socket) {
  sockaddr_in own{};
  sockaddr_in other{};
  socklen_t size = sizeof own;
  const bool known = ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
                     ::getpeername(socket, reinterpret_cast<sockaddr*>(&other), &size) == 0;
  return known && own.sin_port == other.sin_port && own.sin_addr.s_addr == other.sin_addr.s_addr;
}

}  // namespace

void close_with_reset(base::UniqueFd& socket) {
  const linger at_once{1, 0};
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  socket.reset();
}

SentBytes send_what_fits(int socket, std::string& out) {
  SentBytes sent;
  while (sent.bytes < out.size() && sent.error_number == 0) {
    const ssize_t size = ::send(socket, out.data() + sent.bytes, out.size() - sent.bytes,
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size >= 0) {
      sent.bytes += static_cast<std::size_t>(size);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      sent.error_number = errno;
    }
  }
  out.erase(0, sent.bytes);
  return sent;
}

ChannelOptions tunnel_channel_options() {
  ChannelOptions options;
  options.is_binary = true;
  options.max_message_bytes = kMaxTunnelMessageBytes;
  options.max_queued_bytes = kMaxTunnelBytes;
  return options;
}

base::Result<base::UniqueFd> connect_to_loopback(std::uint16_t port) {
  base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_in address = loopback(port);
  const bool begun =
      socket.valid() &&
      (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
       errno == EINPROGRESS);
  if (!begun && errno == ECONNREFUSED) {
    return base::unavailable(base::format("nothing listens at 127.0.0.1:{}", port));
  }
  if (!begun) return base::from_errno(errno, base::format("connect to 127.0.0.1:{}", port));
  return socket;
}

Tunnel::Tunnel(EventLoop& loop, Side side, base::UniqueFd socket, std::unique_ptr<Channel> channel,
               std::function<void(base::Result<>)> on_over)
    : loop_(loop),
      side_(side),
      socket_(std::move(socket)),
      channel_(std::move(channel)),
      on_over_(std::move(on_over)) {
  const int on = 1;
  (void)::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  channel_->on_closed([this](base::Error reason) { break_off(std::move(reason)); });
  channel_->on_message([this](std::string_view message) { on_message(message); });
  if (side_ == Side::kEntrance) {
    connected_ = true;
    read_on();
    return;
  }
  connect_limit_ = loop_.after(kTunnelConnectTimeout, [this] {
    break_off(base::deadline_exceeded("gave up waiting for the connection to the task's port"));
  });
  writable_ = loop_.watch_writable(socket_.get(), [this] { on_connected(); });
}

Tunnel::~Tunnel() {
  if (socket_.valid() && !is_over_) close_with_reset(socket_);
}

void Tunnel::on_connected() {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error == ECONNREFUSED || (error == 0 && reaches_itself(socket_.get()))) {
    return break_off(base::unavailable("nothing listens at the task's port"));
  }
  if (error != 0) return break_off(base::from_errno(error, "connect to the task's port"));
  writable_.reset();
  connect_limit_.reset();
  connected_ = true;
  channel_->send(TunnelFlow::opened());
  read_on();
  write();
}

void Tunnel::on_message(std::string_view message) {
  if (is_over_) return;
  const auto read = flow_.on_message(message);
  if (!read.ok()) return break_off(read.error());
  std::visit(base::Overloaded{
                 [](const TunnelOpened&) {},  // the flow knows it
                 [this](const TunnelData& data) { out_ += data.bytes; },
                 [this](const TunnelTaken&) { read_on(); },
                 [this](const TunnelEnd&) { tell_taken(0); },
             },
             *read);
  write();
}

// The bytes that the other side may not be sent yet are left in the socket.
void Tunnel::read_on() {
  if (is_over_ || !connected_ || flow_.may_send() == 0) return readable_.reset();
  if (readable_.active()) return;
  readable_ = loop_.watch_readable(socket_.get(), [this] { on_readable(); });
}

void Tunnel::on_readable() {
  in_.resize(flow_.may_send());
  const ssize_t size = ::recv(socket_.get(), in_.data(), in_.size(), MSG_DONTWAIT);
  if (size < 0) {
    if (errno == EAGAIN || errno == EINTR) return;
    return break_off(base::from_errno(errno, "read the connection"));
  }
  if (size == 0) {
    channel_->send(flow_.end());
    readable_.reset();
    return look_for_end();
  }
  channel_->send(flow_.data(std::string_view(in_).substr(0, static_cast<std::size_t>(size))));
  read_on();
}

void Tunnel::write() {
  if (is_over_ || !connected_) return;
  const SentBytes sent = send_what_fits(socket_.get(), out_);
  if (sent.error_number != 0) {
    return break_off(base::from_errno(sent.error_number, "write to the connection"));
  }
  if (sent.bytes > 0) tell_taken(sent.bytes);
  if (!out_.empty()) {
    if (!writable_.active()) {
      writable_ = loop_.watch_writable(socket_.get(), [this] { write(); });
    }
    return;
  }
  writable_.reset();
  if (flow_.other_has_ended()) (void)::shutdown(socket_.get(), SHUT_WR);
  look_for_end();
}

void Tunnel::tell_taken(std::size_t bytes) {
  if (auto message = flow_.taken(bytes)) channel_->send(*std::move(message));
}

// Not before the other side has passed on all that it was sent: nothing comes back after the end of
// the channel.
void Tunnel::look_for_end() {
  const bool ended = flow_.has_ended() && flow_.other_has_ended();
  if (ended && out_.empty() && flow_.on_the_way() == 0) over({});
}

void Tunnel::break_off(base::Error reason) {
  if (is_over_) return;
  channel_->close(reason.message, reason.code);
  over(std::move(reason));
}

void Tunnel::over(base::Result<> how) {
  if (std::exchange(is_over_, true)) return;
  connect_limit_.reset();
  readable_.reset();
  writable_.reset();
  if (how.ok()) {
    socket_.reset();
  } else {
    close_with_reset(socket_);
  }
  over_timer_ = loop_.after(base::Duration(0), [this, how = std::move(how)]() mutable {
    // The callback may destroy this.
    const auto on_over = std::move(on_over_);
    on_over(std::move(how));
  });
}

}  // namespace gangrun::net
