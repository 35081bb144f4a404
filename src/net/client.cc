#include "net/client.h"

#include "net/asio_internal.h"
//

#include "base/format.h"
#include "net/alive.h"
#include "net/channel_internal.h"
#include "net/connector_internal.h"
#include "net/exchange_internal.h"
#include "net/hosts.h"
#include "net/http_wire_internal.h"

namespace gangrun::net {

namespace {

std::string host_field(const Endpoint& endpoint) {
  return endpoint.unix_path.empty() ? to_string(endpoint) : "localhost";
}

}  // namespace

std::string to_string(const Endpoint& endpoint) {
  return endpoint.unix_path.empty() ? host_port(endpoint.host, endpoint.port) : endpoint.unix_path;
}

namespace {

class ChannelAttempt final : public CallState, public std::enable_shared_from_this<ChannelAttempt> {
 public:
  ChannelAttempt(EventLoop& loop, Endpoint endpoint, std::string path, Headers headers,
                 base::Instant deadline, ChannelDone on_done, const ChannelOptions& options)
      : loop_(loop),
        endpoint_(std::move(endpoint)),
        path_(std::move(path)),
        headers_(std::move(headers)),
        deadline_(deadline),
        on_done_(std::move(on_done)),
        options_(options),
        connector_(std::make_shared<Connector>(loop, endpoint_, deadline)) {}

  void start() {
    if (auto checked = check_headers(headers_); !checked.ok()) {
      return loop_.post(while_alive(weak_from_this(),
                                    [this, error = std::move(checked).error()] { finish(error); }));
    }
    connector_->start(while_alive(weak_from_this(), [this](base::Result<Stream> stream) {
      if (!stream.ok()) return finish(std::move(stream).error());
      open(std::move(*stream));
    }));
  }

  void cancel() override {
    const auto dropped = std::exchange(on_done_, nullptr);
    limit_.reset();
    connector_->cancel();
    if (give_up_) give_up_();
  }

 private:
  void open(Stream stream) {
    limit_ =
        loop_.at(deadline_, while_alive(weak_from_this(), [this] {
                   if (give_up_) give_up_();
                   finish(base::deadline_exceeded(base::format(
                       "gave up waiting for the answer of {} to {}", to_string(endpoint_), path_)));
                 }));
    give_up_ = open_channel(
        loop_, std::move(stream), options_,
        {host_field(endpoint_), make_target(path_, {}), headers_},
        while_alive(weak_from_this(), [this](base::Result<std::unique_ptr<Channel>> channel) {
          give_up_ = nullptr;
          finish(std::move(channel).context("opening a channel to " + to_string(endpoint_)));
        }));
  }

  void finish(base::Result<std::unique_ptr<Channel>> result) {
    limit_.reset();
    const auto done = std::exchange(on_done_, nullptr);
    if (done) done(std::move(result));
  }

  EventLoop& loop_;
  const Endpoint endpoint_;
  const std::string path_;
  const Headers headers_;
  const base::Instant deadline_;
  ChannelDone on_done_;
  const ChannelOptions options_;
  const std::shared_ptr<Connector> connector_;
  Timer limit_;
  std::function<void()> give_up_;
};

}  // namespace

Call connect_channel(EventLoop& loop, Endpoint endpoint, std::string path, Headers headers,
                     base::Instant deadline,
                     std::function<void(base::Result<std::unique_ptr<Channel>>)> on_done,
                     ChannelOptions options) {
  auto attempt =
      std::make_shared<ChannelAttempt>(loop, std::move(endpoint), std::move(path),
                                       std::move(headers), deadline, std::move(on_done), options);
  attempt->start();
  return Call(std::move(attempt));
}

base::Result<HttpResponse> request(const Endpoint& endpoint, const HttpRequest& request,
                                   base::Instant deadline) {
  GANGRUN_TRY(check_endpoint(endpoint));
  GANGRUN_ASSIGN(std::string bytes, serialise(request, host_field(endpoint)));
  std::vector<std::string> addresses;
  if (endpoint.unix_path.empty()) {
    GANGRUN_ASSIGN(addresses, resolve(endpoint.host, deadline));
  }
  EventLoop loop;
  GANGRUN_ASSIGN(Stream stream, connect_now(loop, endpoint, deadline, {}, std::move(addresses)));
  const auto exchange = std::make_shared<Exchange>(
      std::move(stream), std::move(bytes),
      ExchangeOptions{request.method == "HEAD", kMaxResponseBytes, {}, {}});
  exchange->start();
  const bool answered = loop.run_until([&] { return exchange->done(); }, deadline);
  exchange->close();
  if (!answered) {
    return base::deadline_exceeded(base::format("gave up waiting for the answer of {} to {} {}",
                                                to_string(endpoint), request.method, request.path));
  }
  return exchange->take().context(
      base::format("{} {} at {}", request.method, request.path, to_string(endpoint)));
}

}  // namespace gangrun::net
