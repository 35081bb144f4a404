#include "kubernetes/commands/pod_connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "base/format.h"
#include "net/tunnel.h"

namespace gangrun::kubernetes::commands {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;
// Nobody tells when what was to be sent has been.
constexpr base::Duration kLookInterval = base::milliseconds(5);

}  // namespace

PodConnection::PodConnection(net::EventLoop& loop, base::UniqueFd socket, const Opener& open,
                             std::function<void(base::Result<>)> on_over)
    : loop_(loop), socket_(std::move(socket)), on_over_(std::move(on_over)) {
  const int on = 1;
  (void)::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  kubernetes::TunnelCallbacks callbacks;
  callbacks.on_open = [this] { read_on(); };
  callbacks.on_bytes = [this](std::string_view piece) { on_bytes(piece); };
  callbacks.on_end = [this](base::Result<> how) { on_pod_end(std::move(how)); };
  tunnel_ = open(std::move(callbacks));
}

PodConnection::~PodConnection() {
  if (socket_.valid() && !is_over_) net::close_with_reset(socket_);
}

void PodConnection::read_on() {
  if (is_over_ || pod_has_ended_ || user_has_ended_) return readable_.reset();
  if (tunnel_->queued_bytes() > kMaxUnsentBytes) {
    readable_.reset();
    pause_ = loop_.after(kLookInterval, [this] { read_on(); });
    return;
  }
  if (readable_.active()) return;
  readable_ = loop_.watch_readable(socket_.get(), [this] { on_readable(); });
}

void PodConnection::on_readable() {
  in_.resize(kPieceBytes);
  const ssize_t size = ::recv(socket_.get(), in_.data(), in_.size(), MSG_DONTWAIT);
  if (size < 0) {
    if (errno == EAGAIN || errno == EINTR) return;
    // A program that breaks it off is told nothing any more.
    if (errno == ECONNRESET) return over({});
    return over(base::from_errno(errno, "read the connection"));
  }
  if (size == 0) {
    user_has_ended_ = true;
    limit_silence();
  } else {
    tunnel_->send(std::string_view(in_).substr(0, static_cast<std::size_t>(size)));
  }
  read_on();
}

void PodConnection::limit_silence() {
  silence_ = loop_.after(kMaxSilenceAfterEnd, [this] { over({}); });
}

void PodConnection::on_bytes(std::string_view piece) {
  if (is_over_) return;
  if (user_has_ended_) limit_silence();
  out_ += piece;
  write();
  if (out_.size() <= kMaxUntakenBytes) return;
  over(base::Error{base::Code::kResourceExhausted,
                   base::format("the program that uses the connection has not taken {} MiB",
                                kMaxUntakenBytes >> 20U)});
}

void PodConnection::on_pod_end(base::Result<> how) {
  if (is_over_) return;
  if (!how.ok()) return over(std::move(how));
  pod_has_ended_ = true;
  silence_.reset();
  read_on();
  write();
}

void PodConnection::write() {
  if (is_over_) return;
  const int error_number = net::send_what_fits(socket_.get(), out_).error_number;
  if (error_number == EPIPE || error_number == ECONNRESET) return over({});
  if (error_number != 0) return over(base::from_errno(error_number, "write to the connection"));
  if (!out_.empty()) {
    if (!writable_.active()) {
      writable_ = loop_.watch_writable(socket_.get(), [this] { write(); });
    }
    return;
  }
  writable_.reset();
  if (pod_has_ended_) over({});
}

void PodConnection::over(base::Result<> how) {
  if (std::exchange(is_over_, true)) return;
  pause_.reset();
  silence_.reset();
  readable_.reset();
  writable_.reset();
  if (how.ok()) {
    socket_.reset();
  } else {
    net::close_with_reset(socket_);
  }
  over_timer_ = loop_.after(base::Duration(0), [this, how = std::move(how)]() mutable {
    // The callback may destroy this.
    const auto on_over = std::move(on_over_);
    on_over(std::move(how));
  });
}

}  // namespace gangrun::kubernetes::commands
