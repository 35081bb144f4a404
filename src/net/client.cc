#include "net/client.h"

#include "net/asio_internal.h"
//
#include <array>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

#include "base/format.h"
#include "net/channel_internal.h"
#include "net/connector_internal.h"
#include "net/hosts.h"
#include "net/http_wire_internal.h"

namespace gangrun::net {

namespace http = boost::beast::http;

namespace {

constexpr std::size_t kReadBytes = std::size_t{16} * 1024;
constexpr std::size_t kMaxResponseHeaderBytes = std::size_t{32} * 1024;

std::string host_field(const Endpoint& endpoint) {
  return endpoint.unix_path.empty() ? to_string(endpoint) : "localhost";
}

}  // namespace

std::string to_string(const Endpoint& endpoint) {
  return endpoint.unix_path.empty() ? host_port(endpoint.host, endpoint.port) : endpoint.unix_path;
}

class Connecting::State : public std::enable_shared_from_this<Connecting::State> {
 public:
  State(EventLoop& loop, Endpoint endpoint, std::string path, Headers headers,
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
    const auto weak = weak_from_this();
    if (auto checked = check_headers(headers_); !checked.ok()) {
      return loop_.post([weak, error = std::move(checked).error()] {
        if (const auto self = weak.lock()) self->finish(error);
      });
    }
    connector_->start([weak](base::Result<Stream> stream) {
      const auto self = weak.lock();
      if (self == nullptr) return;
      if (!stream.ok()) return self->finish(std::move(stream).error());
      self->open(std::move(*stream));
    });
  }

  void cancel() {
    const auto dropped = std::exchange(on_done_, nullptr);
    limit_.reset();
    connector_->cancel();
    if (give_up_) give_up_();
  }

 private:
  void open(Stream stream) {
    const auto weak = weak_from_this();
    limit_ = loop_.at(deadline_, [weak] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      if (self->give_up_) self->give_up_();
      self->finish(base::deadline_exceeded(base::format(
          "gave up waiting for the answer of {} to {}", to_string(self->endpoint_), self->path_)));
    });
    give_up_ = open_channel(loop_, std::move(stream), options_, host_field(endpoint_),
                            make_target(path_, {}), headers_,
                            [weak](base::Result<std::unique_ptr<Channel>> channel) {
                              const auto self = weak.lock();
                              if (self == nullptr) return;
                              self->give_up_ = nullptr;
                              self->finish(std::move(channel).context("opening a channel to " +
                                                                      to_string(self->endpoint_)));
                            });
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

Connecting::Connecting(std::shared_ptr<State> state) : state_(std::move(state)) {}

Connecting& Connecting::operator=(Connecting&& other) noexcept {
  if (this != &other) {
    reset();
    state_ = std::move(other.state_);
  }
  return *this;
}

Connecting::~Connecting() { reset(); }

void Connecting::reset() {
  if (const auto state = std::exchange(state_, nullptr)) state->cancel();
}

Connecting connect_channel(EventLoop& loop, Endpoint endpoint, std::string path, Headers headers,
                           base::Instant deadline,
                           std::function<void(base::Result<std::unique_ptr<Channel>>)> on_done,
                           ChannelOptions options) {
  auto state = std::make_shared<Connecting::State>(loop, std::move(endpoint), std::move(path),
                                                   std::move(headers), deadline, std::move(on_done),
                                                   options);
  state->start();
  return Connecting(std::move(state));
}

namespace {

// One request and its answer on one stream, in a loop of its own.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(Stream stream, std::string bytes, bool head)
      : stream_(std::move(stream)), request_(std::move(bytes)) {
    parser_.eager(true);
    parser_.skip(head);
    parser_.body_limit(kMaxResponseBytes);
    parser_.header_limit(kMaxResponseHeaderBytes);
  }

  void start() {
    asio::async_write(stream_, asio::buffer(request_),
                      [self = shared_from_this()](const ErrorCode& error, std::size_t) {
                        // A server may answer before it has read all; the answer says more.
                        if (error) self->write_error_ = error;
                      });
    read();
  }

  void close() { stream_.close(); }
  [[nodiscard]] bool done() const { return result_.has_value(); }
  base::Result<HttpResponse> take() { return std::move(*result_); }

 private:
  void read() {
    stream_.async_read_some(asio::buffer(chunk_),
                            [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
                              self->on_read(error, size);
                            });
  }

  void on_read(ErrorCode error, std::size_t size) {
    in_.append(chunk_.data(), size);
    if (error) {
      // The end of the connection ends a body of unknown length.
      if (parser_.is_header_done()) parser_.put_eof(error);
      if (parser_.is_done() && !error) return finish();
      result_ = to_error(write_error_ ? write_error_ : error, "waiting for the answer");
      return;
    }
    while (!in_.empty() && !parser_.is_done()) {
      const std::size_t used = parser_.put(asio::buffer(in_), error);
      in_.erase(0, used);
      if (error == http::error::need_more) break;
      if (error) {
        const bool too_large =
            error == http::error::body_limit || error == http::error::header_limit;
        result_ =
            base::Error{too_large ? base::Code::kResourceExhausted : base::Code::kInvalidArgument,
                        "the answer is not understood: " + error.message()};
        return;
      }
      if (used == 0) break;
    }
    if (parser_.is_done()) return finish();
    read();
  }

  void finish() {
    const auto& message = parser_.get();
    HttpResponse response;
    response.status = static_cast<int>(message.result_int());
    response.content_type.clear();
    for (const auto& field : message) {
      if (field.name() == http::field::content_type) response.content_type = field.value();
      response.headers.add(field.name_string(), field.value());
    }
    response.body = std::move(parser_.get().body());
    result_ = std::move(response);
  }

  Stream stream_;
  std::string request_;
  ErrorCode write_error_;
  std::array<char, kReadBytes> chunk_{};
  std::string in_;
  http::response_parser<http::string_body> parser_;
  std::optional<base::Result<HttpResponse>> result_;
};

}  // namespace

base::Result<HttpResponse> request(const Endpoint& endpoint, const HttpRequest& request,
                                   base::Instant deadline) {
  GANGRUN_TRY(check_endpoint(endpoint));
  GANGRUN_ASSIGN(std::string bytes, serialise(request, host_field(endpoint)));
  std::vector<std::string> addresses;
  if (endpoint.unix_path.empty()) {
    GANGRUN_ASSIGN(addresses, resolve(endpoint.host, deadline));
  }
  EventLoop loop;
  std::optional<base::Result<Stream>> stream;
  const auto connector = std::make_shared<Connector>(loop, endpoint, deadline);
  connector->start([&stream](base::Result<Stream> result) { stream.emplace(std::move(result)); },
                   std::move(addresses));
  // The connector keeps the deadline itself and says what it waited for.
  while (!loop.run_until([&] { return stream.has_value(); }, base::Instant::max())) {
  }
  if (!stream->ok()) return std::move(*stream).error();
  const auto exchange =
      std::make_shared<Exchange>(std::move(**stream), std::move(bytes), request.method == "HEAD");
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
