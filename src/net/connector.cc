#include "net/connector_internal.h"
//
#include <sys/socket.h>

#include <cerrno>

#include "base/format.h"
#include "net/alive.h"
#include "net/event_loop_internal.h"
#include "net/hosts.h"
#include "net/tls_internal.h"

namespace gangrun::net {

base::Result<> check_endpoint(const Endpoint& endpoint, Trust::Kind trust) {
  if (!endpoint.unix_path.empty()) return {};
  if (endpoint.host.empty() || endpoint.port == 0) {
    return base::invalid_argument("the endpoint has neither a socket's path nor a host and a port");
  }
  if (trust == Trust::Kind::kPinned && endpoint.fingerprint.empty()) {
    return base::invalid_argument(
        base::format("no certificate is known for {}", to_string(endpoint)));
  }
  return {};
}

Connector::Connector(EventLoop& loop, Endpoint endpoint, base::Instant deadline, Trust trust)
    : loop_(loop),
      endpoint_(std::move(endpoint)),
      deadline_(deadline),
      trust_(std::move(trust)),
      socket_(context_of(loop)) {}

void Connector::start(Done done, std::vector<std::string> addresses) {
  done_ = std::move(done);
  addresses_ = std::move(addresses);
  limit_ = loop_.at(deadline_, while_alive(weak_from_this(), [this] {
                      finish(base::deadline_exceeded(base::format(
                          "gave up waiting for {} {}", waits_for_, to_string(endpoint_))));
                    }));
  loop_.post(while_alive(weak_from_this(), [this] {
    if (!done_) return;
    if (auto checked = check_endpoint(endpoint_, trust_.kind); !checked.ok()) {
      return finish(std::move(checked).error());
    }
    if (!endpoint_.unix_path.empty()) return connect_unix();
    if (addresses_.empty()) return resolve_host();
    connect_next();
  }));
}

void Connector::cancel() {
  const auto dropped = std::exchange(done_, nullptr);
  limit_.reset();
  address_limit_.reset();
  ErrorCode ignored;
  socket_.close(ignored);
  if (stream_) stream_->close();
}

void Connector::connect_unix() {
  waits_for_ = "the connection to";
  auto address = unix_address(endpoint_.unix_path);
  if (!address.ok()) return finish(std::move(address).error());
  unix_address_ = std::move(*address);
  connect(*unix_address_);
}

void Connector::resolve_host() {
  waits_for_ = "the name service to find";
  if (is_numeric_address(endpoint_.host)) {
    addresses_ = {endpoint_.host};
    return connect_next();
  }
  resolver_ = std::make_unique<Workers>(loop_, 1);
  const auto started = resolver_->run(
      [host = endpoint_.host, deadline = deadline_] { return resolve(host, deadline); },
      while_alive(weak_from_this(), [this](base::Result<std::vector<std::string>> found) {
        if (!done_) return;
        if (!found.ok()) return finish(std::move(found).error());
        addresses_ = std::move(*found);
        connect_next();
      }));
  if (!started.ok()) finish(started.error());
}

void Connector::connect_next() {
  waits_for_ = "the connection to";
  const auto address = ip_address(addresses_[next_address_], endpoint_.port);
  const auto remaining = static_cast<long>(addresses_.size() - next_address_);
  ++next_address_;
  if (!address.ok()) return finish(address.error());
  if (remaining > 1) {
    const base::Instant limit = loop_.now() + (deadline_ - loop_.now()) / remaining;
    address_limit_ = loop_.at(limit, while_alive(weak_from_this(), [this] {
                                ErrorCode ignored;
                                socket_.close(ignored);
                              }));
  }
  connect(*address);
}

void Connector::connect(const SocketAddress& address) {
  ErrorCode error;
  socket_ = Stream::Socket(context_of(loop_));
  socket_.open(asio::generic::stream_protocol(address.family(), 0), error);
  if (!error) socket_.native_non_blocking(true, error);
  if (error) return finish(to_error(error, "open a socket"));
  if (address.family() == AF_UNIX) {
    // Known at once: a Unix socket is connected, or refused, or the server's queue is full, which
    // Asio would take for a connection on its way.
    if (::connect(socket_.native_handle(), address.get(), address.size) != 0) {
      error.assign(errno, boost::system::system_category());
    }
    return on_connected(error);
  }
  socket_.async_connect(asio::generic::stream_protocol::endpoint(address.get(), address.size),
                        [self = shared_from_this()](const ErrorCode& failed) {
                          if (self->done_) self->on_connected(failed);
                        });
}

void Connector::on_connected(const ErrorCode& error) {
  address_limit_.reset();
  if (!error) return greet();
  if (unix_address_ && error == asio::error::try_again) {
    waits_for_ = "room in the full queue of";
    address_limit_ =
        loop_.after(full_queue_pause_.next(),
                    while_alive(weak_from_this(), [this] { connect(*unix_address_); }));
    return;
  }
  if (next_address_ < addresses_.size()) return connect_next();
  finish(to_error(error, base::format("connect to {}", to_string(endpoint_))));
}

void Connector::greet() {
  if (unix_address_ || trust_.kind == Trust::Kind::kNone) {
    return finish(Stream(std::move(socket_)));
  }
  const bool pinned = trust_.kind == Trust::Kind::kPinned;
  base::Result<std::shared_ptr<asio::ssl::context>> context(trust_.context);
  if (pinned) context = client_tls();
  if (!context.ok()) return finish(std::move(context).error());
  waits_for_ = "the TLS handshake with";
  stream_.emplace(std::move(socket_), *context);
  if (!pinned) {
    if (auto set = stream_->expect_host(endpoint_.host); !set.ok()) {
      return finish(std::move(set).error());
    }
  }
  stream_->handshake(Stream::Role::kClient, [self = shared_from_this()](const ErrorCode& error) {
    if (self->done_) self->on_greeted(error);
  });
}

void Connector::on_greeted(const ErrorCode& error) {
  if (error) {
    const std::string distrust = stream_->distrust();
    return finish(to_error(error, base::format("TLS handshake with {}{}{}", to_string(endpoint_),
                                               distrust.empty() ? "" : ": ", distrust)));
  }
  const std::string shown = stream_->fingerprint();
  if (trust_.kind == Trust::Kind::kPinned && shown != endpoint_.fingerprint) {
    return finish(base::Error{
        base::Code::kUnauthenticated,
        base::format("{} shows another certificate than the job's: its SHA-256 is {}, not {}",
                     to_string(endpoint_), shown, endpoint_.fingerprint)});
  }
  finish(std::move(*stream_));
}

void Connector::finish(base::Result<Stream> result) {
  const auto self = shared_from_this();
  const Done done = std::exchange(done_, nullptr);
  const bool failed = !result.ok();
  limit_.reset();
  address_limit_.reset();
  if (failed) cancel();
  if (done) done(std::move(result));
}

base::Result<Stream> connect_now(EventLoop& loop, Endpoint endpoint, base::Instant deadline,
                                 Trust trust, std::vector<std::string> addresses) {
  std::optional<base::Result<Stream>> stream;
  const auto connector =
      std::make_shared<Connector>(loop, std::move(endpoint), deadline, std::move(trust));
  connector->start([&stream](base::Result<Stream> result) { stream.emplace(std::move(result)); },
                   std::move(addresses));
  // The connector keeps the deadline itself and says what it waited for.
  while (!loop.run_until([&] { return stream.has_value(); }, base::Instant::max())) {
  }
  return *std::move(stream);
}

}  // namespace gangrun::net
