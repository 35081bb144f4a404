#include "net/dialer_internal.h"
//
#include <boost/asio/write.hpp>

#include "base/format.h"
#include "net/alive.h"
#include "net/hosts.h"
#include "net/remote_internal.h"

namespace gangrun::net {

namespace {

// A failure to reach the server says nothing of what is asked of it: no such host is not "no such
// object", a firewall's refusal is not a missing right.
base::Error as_unavailable(base::Error error) {
  using base::Code;
  const bool is_said_of_the_server = error.code == Code::kNotFound ||
                                     error.code == Code::kPermissionDenied ||
                                     error.code == Code::kInternal;
  if (is_said_of_the_server) error.code = Code::kUnavailable;
  return error;
}

base::Code code_of_proxy(int status) {
  if (status == 407) return base::Code::kUnauthenticated;
  return status / 100 == 4 ? base::Code::kPermissionDenied : base::Code::kUnavailable;
}

Endpoint first_hop(const Remote::State& remote) {
  return remote.proxy ? Endpoint{{}, remote.proxy->host, remote.proxy->port, {}}
                      : Endpoint{{}, remote.url.host, remote.url.port, {}};
}

}  // namespace

Dialer::Dialer(EventLoop& loop, std::shared_ptr<const Remote> remote, base::Instant deadline)
    : loop_(loop),
      remote_(std::move(remote)),
      deadline_(deadline),
      connector_(std::make_shared<Connector>(loop, first_hop(remote_->state()), deadline,
                                             Trust{Trust::Kind::kNone, nullptr})),
      // The body of a consent is the connection itself; of a refusal it is not wanted.
      consent_(AnswerOptions{true, 0, {}, {}}) {}

void Dialer::start(Done done) {
  done_ = std::move(done);
  connector_->start(while_alive(weak_from_this(), [this](base::Result<Stream> stream) {
    if (done_) on_connected(std::move(stream));
  }));
}

void Dialer::cancel() {
  const auto dropped = std::exchange(done_, nullptr);
  limit_.reset();
  connector_->cancel();
  if (stream_) stream_->close();
}

void Dialer::on_connected(base::Result<Stream> stream) {
  if (!stream.ok()) return finish(as_unavailable(std::move(stream).error()));
  stream_.emplace(std::move(*stream));
  limit_ = loop_.at(
      deadline_, while_alive(weak_from_this(), [this] {
        finish(base::deadline_exceeded(base::format("gave up waiting for {}", waits_for_)));
      }));
  if (remote_->state().proxy) return ask_proxy();
  greet();
}

void Dialer::ask_proxy() {
  const Proxy& proxy = *remote_->state().proxy;
  waits_for_ = "the answer of the proxy " + host_port(proxy.host, proxy.port);
  std::string wish =
      base::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", remote_->state().address);
  if (!proxy.authorization.empty()) {
    wish += base::format("Proxy-Authorization: {}\r\n", proxy.authorization.reveal());
  }
  wish_ = base::Secret(wish + "\r\n");
  asio::async_write(*stream_, asio::buffer(wish_.reveal()),
                    [self = shared_from_this()](const ErrorCode& error, std::size_t) {
                      if (!self->done_) return;
                      self->wish_ = base::Secret();
                      if (error) return self->on_proxy(error, 0);
                      self->read_proxy();
                    });
}

void Dialer::read_proxy() {
  stream_->async_read_some(asio::buffer(chunk_),
                           [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
                             if (self->done_) self->on_proxy(error, size);
                           });
}

void Dialer::on_proxy(const ErrorCode& error, std::size_t size) {
  if (error) return finish(as_unavailable(to_error(error, waits_for_)));
  const auto complete = consent_.put({chunk_.data(), size});
  if (!complete.ok()) {
    return finish(base::unavailable(base::format("{}: {}", waits_for_, complete.error().message)));
  }
  if (!*complete) return read_proxy();
  const int status = consent_.take().status;
  if (status / 100 == 2) return greet();
  const Proxy& proxy = *remote_->state().proxy;
  const std::string_view what = status == 407 ? "wants to know (better) who asks" : "refuses";
  finish(base::Error{
      code_of_proxy(status),
      base::format("the proxy {} {}: HTTP {}", host_port(proxy.host, proxy.port), what, status)});
}

void Dialer::greet() {
  const Remote::State& remote = remote_->state();
  if (remote.tls == nullptr) return finish(std::move(*stream_));
  waits_for_ = "the TLS handshake with " + remote.address;
  stream_ = std::move(*stream_).over_tls(remote.tls);
  if (auto set = stream_->expect_host(remote.server_name); !set.ok()) {
    return finish(std::move(set).error());
  }
  stream_->handshake(Stream::Role::kClient, [self = shared_from_this()](const ErrorCode& error) {
    if (self->done_) self->on_greeted(error);
  });
}

void Dialer::on_greeted(const ErrorCode& error) {
  if (!error) return finish(std::move(*stream_));
  std::string distrust = stream_->distrust();
  if (!distrust.empty()) distrust.insert(0, ": ");
  finish(as_unavailable(to_error(error, waits_for_ + distrust)));
}

void Dialer::finish(base::Result<Stream> result) {
  const auto self = shared_from_this();
  const Done done = std::exchange(done_, nullptr);
  if (result.ok()) stream_.reset();
  cancel();
  if (done) done(std::move(result));
}

}  // namespace gangrun::net
