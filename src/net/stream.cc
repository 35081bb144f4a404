//
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/ssl/error.hpp>
#include <boost/beast/http/error.hpp>
#include <optional>

#include "base/format.h"
#include "net/address_internal.h"
#include "net/hosts.h"
#include "net/stream_internal.h"
#include "net/tls_internal.h"
#include "net/tls_socket_internal.h"

namespace gangrun::net {

struct Stream::State {
  explicit State(Socket connected) : socket(std::move(connected)) {}

  Socket socket;
  std::shared_ptr<asio::ssl::context> context;
  std::optional<TlsSocket> tls;
};

namespace {

// Keeps the socket alive until the operation has been delivered.
struct KeepAlive {
  std::shared_ptr<Stream::State> state;
  IoHandler handler;

  void operator()(const ErrorCode& error, std::size_t bytes) {
    const auto kept = std::move(state);
    handler(error, bytes);
  }
};

}  // namespace

base::Error to_error(const ErrorCode& error_code, std::string_view what) {
  if (error_code.category() == boost::system::system_category()) {
    return base::from_errno(error_code.value(), what);
  }
  if (error_code == asio::error::eof || error_code == asio::ssl::error::stream_truncated ||
      error_code == boost::beast::http::error::end_of_stream ||
      error_code == boost::beast::http::error::partial_message) {
    return base::unavailable(base::format("{}: the other side closed the connection", what));
  }
  const base::Code code = error_code.category() == asio::error::get_ssl_category()
                              ? base::Code::kUnauthenticated
                              : base::Code::kUnavailable;
  return {code, base::format("{}: {}", what, error_code.message())};
}

Stream::Stream(Socket socket, std::shared_ptr<asio::ssl::context> tls)
    : state_(std::make_shared<State>(std::move(socket))) {
  int on = 1;  // fails on a Unix socket, which does not delay
  ::setsockopt(state_->socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (tls == nullptr) return;
  state_->tls.emplace(state_->socket, *tls);
  state_->context = std::move(tls);
}

Stream::executor_type Stream::get_executor() const { return state_->socket.get_executor(); }

void Stream::read_some(asio::mutable_buffer target, IoHandler handler) {
  if (state_->tls) return state_->tls->read_some(target, state_, std::move(handler));
  state_->socket.async_read_some(asio::mutable_buffer(target),
                                 KeepAlive{state_, std::move(handler)});
}

void Stream::write_some(const WritePieces& pieces, IoHandler handler) {
  if (state_->tls) return state_->tls->write_some(pieces, state_, std::move(handler));
  state_->socket.async_write_some(pieces, KeepAlive{state_, std::move(handler)});
}

base::Result<std::size_t> Stream::write_now(std::string_view bytes) {
  if (bytes.empty()) return std::size_t{0};
  if (state_->tls) return state_->tls->write_now(bytes);
  const ssize_t put = ::send(state_->socket.native_handle(), bytes.data(), bytes.size(),
                             MSG_DONTWAIT | MSG_NOSIGNAL);
  if (put >= 0) return static_cast<std::size_t>(put);
  if (errno == EAGAIN || errno == EINTR) return std::size_t{0};
  return base::from_errno(errno, "write");
}

void Stream::when_writable(std::function<void(const ErrorCode&)> done) {
  state_->socket.async_wait(Socket::wait_write, [state = state_, done = std::move(done)](
                                                    const ErrorCode& error) { done(error); });
}

Stream Stream::over_tls(std::shared_ptr<asio::ssl::context> tls) && {
  return Stream(std::move(state_->socket), std::move(tls));
}

base::Result<> Stream::expect_host(std::string host) {
  SSL* const native = state_->tls->native();
  // A server of several names is told a name, never an address (RFC 6066).
  const bool set = is_numeric_address(host)
                       ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(native), host.c_str()) == 1
                       : SSL_set1_host(native, host.c_str()) == 1 &&
                             SSL_ctrl(native, SSL_CTRL_SET_TLSEXT_HOSTNAME,
                                      TLSEXT_NAMETYPE_host_name, host.data()) == 1;
  if (!set) return base::internal("TLS does not take a host: " + take_openssl_error());
  continue_session(native);
  return {};
}

std::string Stream::distrust() const {
  SSL* const native = state_->tls ? state_->tls->native() : nullptr;
  if (native == nullptr || SSL_get_verify_mode(native) == SSL_VERIFY_NONE) return {};
  const long result = SSL_get_verify_result(native);
  return result == X509_V_OK ? std::string() : X509_verify_cert_error_string(result);
}

void Stream::handshake(Role role, std::function<void(const ErrorCode&)> done) {
  if (!state_->tls) {
    asio::post(get_executor(), [done = std::move(done)] { done({}); });
    return;
  }
  state_->tls->handshake(
      role, state_,
      IoHandler([done = std::move(done)](const ErrorCode& error, std::size_t) { done(error); }));
}

std::string Stream::fingerprint() const {
  return state_->tls ? peer_fingerprint(state_->tls->native()) : std::string();
}

void Stream::shutdown_send() {
  ErrorCode ignored;
  state_->socket.shutdown(asio::socket_base::shutdown_send, ignored);
}

void Stream::close() {
  if (state_ == nullptr) return;  // moved from
  ErrorCode ignored;
  state_->socket.close(ignored);
}

bool Stream::encrypted() const { return state_->tls.has_value(); }

Peer Stream::describe_peer() const {
  const int fd = state_->socket.native_handle();
  Peer peer;
  SocketAddress address;
  address.size = sizeof address.storage;
  ::getpeername(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size);
  if (address.family() != AF_UNIX) {
    peer.kind = encrypted() ? PeerKind::kTls : PeerKind::kTcp;
    peer.address = to_string(address);
    return peer;
  }
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0) {
    peer.uid = credentials.uid;
    peer.pid = credentials.pid;
    peer.address = base::format("pid {}", credentials.pid);
  }
  return peer;
}

}  // namespace gangrun::net
