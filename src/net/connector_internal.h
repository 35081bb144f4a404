#pragma once

#include "base/pause.h"
#include "net/asio_internal.h"
//
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "net/address_internal.h"
#include "net/client.h"
#include "net/event_loop.h"
#include "net/stream_internal.h"
#include "net/workers.h"

namespace gangrun::net {

// How a TCP endpoint has to show who it is.
struct Trust {
  enum class Kind {
    kPinned,       // TLS, by the endpoint's fingerprint
    kAuthorities,  // TLS, by those whom `context` trusts, for the endpoint's host
    kNone,         // not at all: plain
  };
  Kind kind = Kind::kPinned;
  std::shared_ptr<asio::ssl::context> context;
};

// One attempt to get a connected stream to an endpoint: resolve, connect, TLS handshake, comparison
// of the certificate. Each address of a host gets its share of the time.
class Connector : public std::enable_shared_from_this<Connector> {
 public:
  using Done = std::function<void(base::Result<Stream>)>;

  Connector(EventLoop& loop, Endpoint endpoint, base::Instant deadline, Trust trust = {});

  // `done` is called once, later. Without `addresses` the host is resolved on a thread.
  void start(Done done, std::vector<std::string> addresses = {});
  // Ends the attempt; `done` is not called.
  void cancel();

 private:
  void connect_unix();
  void resolve_host();
  void connect_next();
  void on_connected(const ErrorCode& error);
  void greet();
  void on_greeted(const ErrorCode& error);
  void finish(base::Result<Stream> result);
  void connect(const SocketAddress& address);

  EventLoop& loop_;
  const Endpoint endpoint_;
  const base::Instant deadline_;
  const Trust trust_;
  Done done_;
  std::string waits_for_ = "the connection to";
  Timer limit_;

  std::unique_ptr<Workers> resolver_;
  std::vector<std::string> addresses_;
  std::size_t next_address_ = 0;
  Timer address_limit_;
  std::optional<SocketAddress> unix_address_;
  // The kernel refuses a Unix connection at once when the server's queue is full. Twice as long
  // each time: hundreds may wait on one host, and the server needs the processors, too.
  base::Pause full_queue_pause_{base::milliseconds(5), base::milliseconds(160)};
  Stream::Socket socket_;
  std::optional<Stream> stream_;
};

// The same, waited for. Runs `loop`, where nothing else is waited for.
base::Result<Stream> connect_now(EventLoop& loop, Endpoint endpoint, base::Instant deadline,
                                 Trust trust, std::vector<std::string> addresses);

// The error of an `endpoint` that can never be connected to.
base::Result<> check_endpoint(const Endpoint& endpoint, Trust::Kind trust = Trust::Kind::kPinned);

}  // namespace gangrun::net
