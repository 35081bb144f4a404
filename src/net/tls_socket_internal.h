#pragma once

#include "net/asio_internal.h"
//
#include <openssl/ssl.h>

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "net/openssl_owners_internal.h"
#include "net/stream_internal.h"

namespace gangrun::net {

// TLS over a connected socket, which OpenSSL reads and writes by itself: a connection that is idle
// keeps no buffers. (asio::ssl::stream keeps four of a record's size for each, 70 KB.)
//
// At most one read and one write are under way at a time, and nothing else during the handshake.
// `done` is called from the loop, never by the function that it is given to; `owner` keeps this and
// its socket alive until then.
class TlsSocket {
 public:
  using Owner = std::shared_ptr<const void>;

  // The socket outlives this; closing it ends what is under way.
  TlsSocket(Stream::Socket& socket, asio::ssl::context& context);
  TlsSocket(const TlsSocket&) = delete;
  TlsSocket& operator=(const TlsSocket&) = delete;
  ~TlsSocket() = default;

  void handshake(Stream::Role role, Owner owner, IoHandler done);
  // Ends with asio::error::eof after the other side's farewell, and with stream_truncated without
  // one.
  void read_some(asio::mutable_buffer target, Owner owner, IoHandler done);
  void write_some(const WritePieces& pieces, Owner owner, IoHandler done);

  // Stream's.
  base::Result<std::size_t> write_now(std::string_view bytes);

  [[nodiscard]] SSL* native() const { return tls_.get(); }

 private:
  template <typename Step>
  class Operation;

  // Tries a step now; when it has to wait, again when the socket lets it. `step` is called as
  // step(SSL*, size_t* bytes).
  template <typename Step>
  void start(Step step, Owner owner, IoHandler done);

  // The functions by which OpenSSL reads and writes.
  static BIO_METHOD* bio_method();
  static int read_socket(BIO* bio, char* target, int size);
  static int write_socket(BIO* bio, const char* data, int size);
  static long control_socket(BIO* bio, int command, long number, void* pointer);
  // Why a step failed that OpenSSL gave this for.
  [[nodiscard]] ErrorCode reason(int ssl_error) const;

  Stream::Socket& socket_;
  int errno_ = 0;  // of the last read or write of the socket that failed
  Tls tls_;
};

}  // namespace gangrun::net
