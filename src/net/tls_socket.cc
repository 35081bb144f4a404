#include "net/tls_socket_internal.h"
//
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/ssl/error.hpp>
#include <cerrno>
#include <utility>

#include "base/check.h"

namespace gangrun::net {

namespace {

// So much of several pieces becomes one record, as frames have short headers.
constexpr std::size_t kGathered = 8192;
// 3.0.14: before it SSL_free_buffers() drops a record's header that has come alone (CVE-2024-4741).
constexpr unsigned long kKeepsHalfRecords = 0x300000e0;

TlsSocket& socket_of(BIO* bio) { return *static_cast<TlsSocket*>(BIO_get_data(bio)); }

// The first piece, or as much of all of them as fits into `gathered`.
asio::const_buffer next_record(const WritePieces& pieces, std::array<char, kGathered>& gathered) {
  if (pieces.count == 1 || pieces.pieces[0].size() >= kGathered) return pieces.pieces[0];
  return asio::buffer(gathered.data(), asio::buffer_copy(asio::buffer(gathered), pieces));
}

}  // namespace

// One that waits is moved into the socket's wait, and from there into the next.
template <typename Step>
class TlsSocket::Operation {
 public:
  Operation(TlsSocket& socket, Step step, Owner owner, IoHandler done)
      : socket_(&socket),
        step_(std::move(step)),
        owner_(std::move(owner)),
        done_(std::move(done)) {}

  // Called when the socket is ready, or has been closed.
  void operator()(const ErrorCode& error) {
    if (error) return done_(error, 0);
    go_on(false);
  }

  // `deferred`: the end is told from the loop and not from here.
  void go_on(bool deferred) {
    std::size_t bytes = 0;
    ERR_clear_error();
    socket_->errno_ = 0;
    const int result = step_(socket_->native(), &bytes);
    ErrorCode error;
    if (result <= 0) {
      const int ssl_error = SSL_get_error(socket_->native(), result);
      Stream::Socket& socket = socket_->socket_;
      if (ssl_error == SSL_ERROR_WANT_READ) {
        // Whoever is sent a ticket between records keeps a buffer to answer by.
        if (OpenSSL_version_num() >= kKeepsHalfRecords) SSL_free_buffers(socket_->native());
        return socket.async_wait(Stream::Socket::wait_read, std::move(*this));
      }
      if (ssl_error == SSL_ERROR_WANT_WRITE)
        return socket.async_wait(Stream::Socket::wait_write, std::move(*this));
      error = socket_->reason(ssl_error);
    }
    if (!deferred) return done_(error, bytes);
    asio::post(socket_->socket_.get_executor(), [done = std::move(done_), owner = std::move(owner_),
                                                 error, bytes]() mutable { done(error, bytes); });
  }

 private:
  TlsSocket* socket_;
  Step step_;
  Owner owner_;
  IoHandler done_;
};

TlsSocket::TlsSocket(Stream::Socket& socket, asio::ssl::context& context)
    : socket_(socket), tls_(SSL_new(context.native_handle())) {
  BIO* const bio = tls_ == nullptr ? nullptr : BIO_new(bio_method());
  GANGRUN_CHECK(bio != nullptr, "no memory");
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(tls_.get(), bio, bio);
  SSL_set_mode(tls_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                               SSL_MODE_RELEASE_BUFFERS);
  // A record's header and the rest of it by one call.
  SSL_set_read_ahead(tls_.get(), 1);
}

void TlsSocket::handshake(Stream::Role role, Owner owner, IoHandler done) {
  if (role == Stream::Role::kServer) {
    SSL_set_accept_state(tls_.get());
  } else {
    SSL_set_connect_state(tls_.get());
  }
  start([](SSL* tls, std::size_t*) { return SSL_do_handshake(tls); }, std::move(owner),
        std::move(done));
}

void TlsSocket::read_some(asio::mutable_buffer target, Owner owner, IoHandler done) {
  const auto step = [target](SSL* tls, std::size_t* bytes) {
    return target.size() == 0 ? 1 : SSL_read_ex(tls, target.data(), target.size(), bytes);
  };
  start(step, std::move(owner), std::move(done));
}

void TlsSocket::write_some(const WritePieces& pieces, Owner owner, IoHandler done) {
  const auto step = [pieces](SSL* tls, std::size_t* bytes) {
    if (pieces.count == 0) return 1;
    std::array<char, kGathered> gathered;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    const asio::const_buffer record = next_record(pieces, gathered);
    return SSL_write_ex(tls, record.data(), record.size(), bytes);
  };
  start(step, std::move(owner), std::move(done));
}

base::Result<std::size_t> TlsSocket::write_now(std::string_view bytes) {
  std::size_t put = 0;
  ERR_clear_error();
  errno_ = 0;
  const int result = SSL_write_ex(tls_.get(), bytes.data(), bytes.size(), &put);
  if (result > 0) return put;
  const int ssl_error = SSL_get_error(tls_.get(), result);
  if (ssl_error == SSL_ERROR_WANT_READ || ssl_error == SSL_ERROR_WANT_WRITE) return std::size_t{0};
  return to_error(reason(ssl_error), "write");
}

template <typename Step>
void TlsSocket::start(Step step, Owner owner, IoHandler done) {
  Operation<Step>(*this, std::move(step), std::move(owner), std::move(done)).go_on(true);
}

ErrorCode TlsSocket::reason(int ssl_error) const {
  if (ssl_error == SSL_ERROR_ZERO_RETURN) return asio::error::eof;
  if (ssl_error == SSL_ERROR_SYSCALL) {
    if (errno_ == 0) return asio::ssl::error::stream_truncated;
    return {errno_, boost::system::system_category()};
  }
  const unsigned long error = ERR_get_error();
  if (ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
    return asio::ssl::error::stream_truncated;
  return {static_cast<int>(error), asio::error::get_ssl_category()};
}

// Unlike OpenSSL's own for sockets a write to a closed connection is an error and no signal, and a
// descriptor that has been closed is not asked any more.
BIO_METHOD* TlsSocket::bio_method() {
  static BIO_METHOD* const kMethod = [] {
    BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    GANGRUN_CHECK(made != nullptr, "no memory");
    BIO_meth_set_read(made, &TlsSocket::read_socket);
    BIO_meth_set_write(made, &TlsSocket::write_socket);
    BIO_meth_set_ctrl(made, &TlsSocket::control_socket);
    return made;
  }();
  return kMethod;
}

int TlsSocket::read_socket(BIO* bio, char* target, int size) {
  TlsSocket& self = socket_of(bio);
  BIO_clear_retry_flags(bio);
  const ssize_t got =
      ::recv(self.socket_.native_handle(), target, static_cast<std::size_t>(size), MSG_DONTWAIT);
  if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  if (got < 0) {
    self.errno_ = errno;
    if (self.errno_ == EAGAIN || self.errno_ == EINTR) BIO_set_retry_read(bio);
  }
  return static_cast<int>(got);
}

int TlsSocket::write_socket(BIO* bio, const char* data, int size) {
  TlsSocket& self = socket_of(bio);
  BIO_clear_retry_flags(bio);
  const ssize_t put = ::send(self.socket_.native_handle(), data, static_cast<std::size_t>(size),
                             MSG_DONTWAIT | MSG_NOSIGNAL);
  if (put < 0) {
    self.errno_ = errno;
    if (self.errno_ == EAGAIN || self.errno_ == EINTR) BIO_set_retry_write(bio);
  }
  return static_cast<int>(put);
}

long TlsSocket::control_socket(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_FLUSH) return 1;
  return command == BIO_CTRL_EOF && BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
}

}  // namespace gangrun::net
