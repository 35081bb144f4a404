#pragma once

#include "net/asio_internal.h"
//
#include <array>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/role.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "net/http.h"

namespace gangrun::net {

// The handler of an operation of a Stream: any handler of Asio or Beast, its type
// forgotten, so that all that stands on streams is compiled for one type only. Called once.
class IoHandler {
 public:
  template <typename Handler>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): it does not see the constraint
  requires(!std::is_same_v<std::decay_t<Handler>, IoHandler>) explicit IoHandler(Handler&& handler)
      : held_(std::make_unique<Held<std::decay_t<Handler>>>(std::forward<Handler>(handler))) {}

  void operator()(const ErrorCode& error, std::size_t bytes) {
    held_.release()->call_and_free(error, bytes);
  }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual void call_and_free(const ErrorCode& error, std::size_t bytes) = 0;
  };

  template <typename Handler>
  struct Held final : Base {
    explicit Held(Handler&& original) : handler(std::move(original)) {}
    explicit Held(const Handler& original) : handler(original) {}
    void call_and_free(const ErrorCode& error, std::size_t bytes) override {
      // Asio promises that an operation's memory is free again when its handler runs.
      Handler local(std::move(handler));
      const std::unique_ptr<Held> owner(this);
      (void)owner;
      std::move(local)(error, bytes);
    }
    Handler handler;
  };

  std::unique_ptr<Base> held_;
};

// The pieces of one write: enough for a frame's header and its payload.
struct WritePieces {
  static constexpr std::size_t kMaxPieces = 8;

  [[nodiscard]] const asio::const_buffer* begin() const { return pieces.data(); }
  [[nodiscard]] const asio::const_buffer* end() const { return pieces.data() + count; }

  std::array<asio::const_buffer, kMaxPieces> pieces;
  std::size_t count = 0;
};

// A connected socket, Unix or TCP, plain or TLS, as one type: an AsyncReadStream and
// AsyncWriteStream for Beast. What it is made of lives until its last operation has been delivered,
// so a stream may be destroyed at any time.
class Stream {
 public:
  using executor_type = asio::io_context::executor_type;
  using Socket = asio::basic_stream_socket<asio::generic::stream_protocol, executor_type>;
  struct State;

  // Plain, or TLS over `socket` when there is a context; then handshake() comes first.
  explicit Stream(Socket socket, std::shared_ptr<asio::ssl::context> tls = nullptr);
  Stream(Stream&&) noexcept = default;
  Stream& operator=(Stream&&) noexcept = default;
  ~Stream() = default;

  executor_type get_executor() const;

  template <typename Buffers, typename Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    asio::mutable_buffer target;
    for (auto it = asio::buffer_sequence_begin(buffers); it != asio::buffer_sequence_end(buffers);
         ++it) {
      target = *it;
      if (target.size() > 0) break;
    }
    read_some(target, IoHandler(std::forward<Handler>(handler)));
  }

  template <typename Buffers, typename Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    WritePieces pieces;
    for (auto it = asio::buffer_sequence_begin(buffers); it != asio::buffer_sequence_end(buffers);
         ++it) {
      const asio::const_buffer piece(*it);
      if (piece.size() == 0) continue;
      pieces.pieces[pieces.count++] = piece;
      if (pieces.count == WritePieces::kMaxPieces) break;
    }
    write_some(pieces, IoHandler(std::forward<Handler>(handler)));
  }

  // The same connection with TLS over it, before its handshake(). Nothing may be under way on it.
  [[nodiscard]] Stream over_tls(std::shared_ptr<asio::ssl::context> tls) &&;

  // Before the handshake of a client whose context knows authorities: the certificate must be one
  // for `host`, a name or a numeric address. A session that the context keeps is gone on with.
  base::Result<> expect_host(std::string host);
  // Why the certificate was not accepted; "" when it was, or none has been shown.
  [[nodiscard]] std::string distrust() const;

  enum class Role { kServer, kClient };
  // The TLS handshake; at once a success on a plain stream.
  void handshake(Role role, std::function<void(const ErrorCode&)> done);
  // SHA-256 of the certificate that the other side has shown.
  [[nodiscard]] std::string fingerprint() const;

  // As much as the connection takes without waiting; none: it takes nothing now. Not while a write
  // is under way.
  base::Result<std::size_t> write_now(std::string_view bytes);
  // Once it may take something again.
  void when_writable(std::function<void(const ErrorCode&)> done);

  // No more is sent; what was sent still arrives.
  void shutdown_send();
  // Ends all operations, with an error. Idempotent.
  void close();

  [[nodiscard]] bool encrypted() const;
  // The process that is connected, by the kernel.
  [[nodiscard]] Peer describe_peer() const;

 private:
  void read_some(asio::mutable_buffer target, IoHandler handler);
  void write_some(const WritePieces& pieces, IoHandler handler);

  std::shared_ptr<State> state_;
};

// The function that Beast calls on a stream when a WebSocket ends, found by the stream's type.
inline void beast_close_socket(Stream& stream) { stream.close(); }

template <typename Handler>
void async_teardown(boost::beast::role_type, Stream& stream, Handler&& handler) {
  stream.shutdown_send();
  asio::post(stream.get_executor(),
             boost::beast::bind_handler(std::forward<Handler>(handler), ErrorCode{}));
}

}  // namespace gangrun::net
