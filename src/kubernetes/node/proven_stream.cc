#include "kubernetes/node/proven_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "base/format.h"
#include "net/tunnel.h"

namespace gangrun::kubernetes::node {

namespace {

constexpr std::size_t kReadAtOnce = std::size_t{64} << 10U;

}  // namespace

ProvenStream::ProvenStream(net::EventLoop& loop, base::UniqueFd socket, Proof proof,
                           Callbacks callbacks)
    : loop_(loop), socket_(std::move(socket)), proof_(std::move(proof)) {
  const int on = 1;
  (void)::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  set_callbacks(std::move(callbacks));
  readable_ = loop_.watch_readable(socket_.get(), [this] { read(); });
  send_bytes(proof_.begin());
}

void ProvenStream::set_callbacks(Callbacks callbacks) {
  callbacks_ = std::make_shared<const Callbacks>(std::move(callbacks));
}

void ProvenStream::send_bytes(std::string_view bytes) {
  if (is_over_) return;
  out_ += bytes;
  if (out_.size() > kMaxWaitingBytes) {
    return end({base::Code::kResourceExhausted,
                base::format("the client has not taken {} MiB", kMaxWaitingBytes >> 20U)});
  }
  // If some of it waits already, the socket takes nothing now.
  if (!writable_.active()) write();
}

void ProvenStream::write() {
  const bool has_waited = writable_.active();
  const int error_number = net::send_what_fits(socket_.get(), out_).error_number;
  if (error_number != 0) return end(base::from_errno(error_number, "write to the client"));
  if (!out_.empty()) {
    if (!has_waited) writable_ = loop_.watch_writable(socket_.get(), [this] { write(); });
    return;
  }
  writable_.reset();
  const auto callbacks = callbacks_;
  if (has_waited && callbacks->on_drained) callbacks->on_drained();
}

void ProvenStream::read() {
  std::string bytes(kReadAtOnce, '\0');
  const ssize_t size = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size < 0) return end(base::from_errno(errno, "read from the client"));
  if (size == 0) return end(base::unavailable("the client has closed its stream"));
  take(std::string_view(bytes).substr(0, static_cast<std::size_t>(size)));
}

void ProvenStream::take(std::string_view bytes) {
  if (proof_.is_done()) return take_frames(bytes);
  const auto answer = proof_.take(bytes);
  if (!answer.ok()) return end(answer.error());
  send_bytes(*answer);
  if (!proof_.is_done()) return;
  const auto callbacks = callbacks_;
  callbacks->on_proven();
  take_frames(proof_.rest());
}

void ProvenStream::take_frames(std::string_view bytes) {
  frames_.add(bytes);
  while (!is_over_) {
    const auto frame = frames_.next();
    if (!frame.ok()) return end(frame.error());
    if (!*frame) return;
    const auto callbacks = callbacks_;
    callbacks->on_frame(**frame);
  }
}

void ProvenStream::end(base::Error why) {
  if (std::exchange(is_over_, true)) return;
  readable_.reset();
  writable_.reset();
  over_ = loop_.after(base::Duration(0), [this, why = std::move(why)] {
    // It may be the end of this.
    const auto callbacks = callbacks_;
    callbacks->on_over(why);
  });
}

}  // namespace gangrun::kubernetes::node
