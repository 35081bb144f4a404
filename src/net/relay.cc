#include "net/relay.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>

#include "base/overloaded.h"
#include "net/link_window.h"
#include "net/tunnel.h"
#include "net/tunnel_flow.h"

namespace gangrun::net {

namespace {

// The least window has four times that on the way.
constexpr std::size_t kTellTaken = LinkWindow::kLeast / 4;

}  // namespace

struct Relay::Stream {
  base::UniqueFd socket;
  TunnelFlow flow{kTellTaken};
  LinkWindow window;
  std::string out;  // for the socket
  Watch readable;
  Watch writable;
};

Relay::Relay(EventLoop& loop, std::function<void(const RelayFrame&)> send, std::size_t max_streams)
    : loop_(loop), send_(std::move(send)), max_streams_(max_streams) {}

Relay::~Relay() = default;

void Relay::take(base::UniqueFd socket) {
  if (streams_.size() >= max_streams_) return;
  const std::uint32_t id = next_++;
  send_(OpenFrame{id});
  add(id, std::move(socket));
}

void Relay::add(std::uint32_t id, base::UniqueFd socket) {
  const int on = 1;
  // Sockets of this machine have no such option.
  (void)::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  auto stream = std::make_unique<Stream>();
  stream->socket = std::move(socket);
  streams_[id] = std::move(stream);
  read_on(id);
}

void Relay::on_frame(const OpenFrame& frame) {
  if (streams_.contains(frame.stream)) return break_off(frame.stream);
  if (streams_.size() >= max_streams_) return send_(StreamFrame{frame.stream, {}});
  auto socket = connect_();
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
                 [](const TunnelOpened& /*each*/) {},
                 [&](const TunnelData& data) { stream.out += data.bytes; },
                 [&](const TunnelEnd& /*each*/) { tell_taken(frame.stream, 0); },
                 [&](const TunnelTaken& /*each*/) { read_on(frame.stream); },
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
  if (is_held_) {
    held_back_.insert(id);
    return stream.readable.reset();
  }
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
  const SentBytes sent = send_what_fits(stream.socket.get(), stream.out);
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

void Relay::hold(bool is_held) {
  is_held_ = is_held;
  if (is_held_) return;
  for (const std::uint32_t id : std::exchange(held_back_, {})) {
    if (streams_.contains(id)) read_on(id);
  }
}

void Relay::break_all() {
  while (!streams_.empty()) drop(streams_.begin()->first);
}

}  // namespace gangrun::net
