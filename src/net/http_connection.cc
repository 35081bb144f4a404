#include "net/asio_internal.h"
//
#include <boost/asio/write.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "base/format.h"
#include "net/alive.h"
#include "net/channel_internal.h"
#include "net/http_wire_internal.h"
#include "net/server_internal.h"

namespace gangrun::net {

namespace http = boost::beast::http;

namespace {

// The most bytes of the next request while the answer to this one is awaited.
constexpr std::size_t kMaxPipelinedBytes = std::size_t{64} * 1024;
// How long, and how much, is still read from a client that was told to stop, so that it can read
// why.
constexpr base::Duration kDrainTimeout = base::seconds(2);
constexpr std::size_t kMaxDrainedBytes = std::size_t{64} * 1024 * 1024;
// A client that has ended its own side gives no sign when it goes: it is checked so often.
constexpr base::Duration kHalfClosedPause = base::milliseconds(250);

int status_of_parse_error(const ErrorCode& error) {
  if (error == http::error::body_limit) return 413;
  if (error == http::error::header_limit) return 431;
  return 400;
}

base::Result<HttpRequest> convert(const http::request<http::string_body>& message, Peer peer) {
  GANGRUN_ASSIGN(Target target, parse_target({message.target().data(), message.target().size()}));
  HttpRequest request;
  request.method = message.method_string();
  request.path = std::move(target.path);
  request.query = std::move(target.query);
  request.repeated = std::move(target.repeated);
  for (const auto& field : message) request.headers.add(field.name_string(), field.value());
  request.peer = std::move(peer);
  return request;
}

}  // namespace

HttpConnection::HttpConnection(Server::Core& core, Stream stream, std::shared_ptr<void> guard,
                               Strangers::Id id)
    : core_(core.weak_from_this()),
      loop_(core.loop),
      options_(core.options),
      guard_(std::move(guard)),
      id_(id),
      stream_(std::move(stream)),
      peer_(stream_.describe_peer()) {}

void HttpConnection::start() {
  limit(options_.header_timeout);
  if (!stream_.encrypted()) {
    state_ = State::kReading;
    return read();
  }
  stream_.handshake(Stream::Role::kServer, [self = shared_from_this()](const ErrorCode& error) {
    if (self->state_ != State::kHandshake) return;
    if (error) return self->finish();
    self->state_ = State::kReading;
    self->read();
  });
}

void HttpConnection::limit(base::Duration duration) {
  limit_ = loop_.after(duration, while_alive(weak_from_this(), [this] { on_limit(); }));
}

void HttpConnection::on_limit() {
  const bool asked = parser_.has_value() || !in_.empty();
  if (state_ != State::kReading || !asked) return finish();
  refuse(408, "the request took too long to arrive");
}

void HttpConnection::read() {
  if (reading_ || ended_ || state_ == State::kClosed) return;
  if (state_ != State::kReading && in_.size() >= kMaxPipelinedBytes) return;
  reading_ = true;
  stream_.async_read_some(asio::buffer(chunk_),
                          [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
                            self->on_read(error, size);
                          });
}

void HttpConnection::on_read(const ErrorCode& error, std::size_t size) {
  reading_ = false;
  if (state_ == State::kClosed) return;
  if (error) {
    ended_ = true;
    // An answer under way still reaches a client that only ended its own side.
    if (state_ == State::kWriting) return;
    if (state_ == State::kAwaiting && error == asio::error::eof) return stay_half_closed();
    finish();
    return;
  }
  if (state_ == State::kDraining) {
    drained_bytes_ += size;
    if (drained_bytes_ > kMaxDrainedBytes) return finish();
    return read();
  }
  in_.append(chunk_.data(), size);
  if (state_ == State::kReading) return parse();
  read();
}

// For its answer, as long as its client waits for that.
void HttpConnection::stay_half_closed() {
  if (state_ != State::kAwaiting) return;
  const auto core = core_.lock();
  const bool waits = core != nullptr && core->on.half_closed && core->on.half_closed(peer_);
  if (state_ != State::kAwaiting) return;  // by the callback
  if (!waits) return finish();
  limit_ =
      loop_.after(kHalfClosedPause, while_alive(weak_from_this(), [this] { stay_half_closed(); }));
}

void HttpConnection::parse() {
  if (!parser_) {
    // The handshake is a part of the first request.
    if (!first_) limit(options_.header_timeout);
    first_ = false;
    parser_.emplace();
    parser_->eager(true);
    parser_->header_limit(static_cast<std::uint32_t>(options_.max_header_bytes));
    parser_->body_limit(options_.max_body_bytes);
    header_seen_ = false;
    head_ = false;
  }
  ErrorCode error;
  std::size_t used = 0;
  do {
    used = parser_->put(asio::buffer(in_), error);
    in_.erase(0, used);
  } while (!error && used > 0 && !in_.empty() && !parser_->is_done());
  if (error && error != http::error::need_more) {
    return refuse(status_of_parse_error(error),
                  base::format("the request is not accepted: {}", error.message()));
  }
  if (parser_->is_header_done() && !header_seen_) on_header();
  if (state_ != State::kReading) return;
  if (parser_->is_done()) return dispatch();
  read();
}

void HttpConnection::on_header() {
  header_seen_ = true;
  const auto core = core_.lock();
  if (core == nullptr) return finish();
  if (!admit(*core)) return;
  limit(options_.body_timeout);
  const auto expected = parser_->get().find(http::field::expect);
  if (expected != parser_->get().end() && !parser_->is_done()) {
    write("HTTP/1.1 100 Continue\r\n\r\n");
  }
}

bool HttpConnection::admit(Server::Core& core) {
  if (core.on.admission) {
    const auto request = convert(parser_->get(), peer_);
    if (!request.ok()) {
      refuse(400, request.error().message);
      return false;
    }
    const std::optional<HttpResponse> refusal = core.on.admission(*request);
    if (state_ == State::kClosed) return false;  // by the callback
    if (refusal) {
      head_ = parser_->get().method() == http::verb::head;
      last_ = true;
      state_ = State::kAwaiting;
      parser_.reset();
      read();
      answer(*refusal);
      return false;
    }
  }
  core.leave(id_);
  return true;
}

void HttpConnection::dispatch() {
  limit_.reset();
  const auto& message = parser_->get();
  head_ = message.method() == http::verb::head;
  last_ = !message.keep_alive();
  auto request = convert(message, peer_);
  if (!request.ok()) return refuse(400, request.error().message);
  const auto core = core_.lock();
  if (core == nullptr) return finish();
  state_ = State::kAwaiting;
  if (boost::beast::websocket::is_upgrade(message)) return upgrade(*core, std::move(*request));
  request->body = std::move(parser_->get().body());
  parser_.reset();
  read();
  Responder responder(weak_from_this());
  if (core->on.request) {
    core->on.request(std::move(*request), std::move(responder));
  } else {
    responder.answer(error_response(base::not_found("nothing is here")));
  }
}

void HttpConnection::upgrade(Server::Core& core, HttpRequest request) {
  std::optional<HttpResponse> refusal;
  if (!core.on.channel) {
    refusal = error_response(base::not_found("no channel is here"));
  } else if (!in_.empty()) {
    refusal = error_response(base::invalid_argument("data before the WebSocket is open"));
  } else if (core.on.channel_request) {
    refusal = core.on.channel_request(request);
  }
  if (state_ == State::kClosed) return;  // by the callback
  if (refusal) {
    parser_.reset();
    read();
    return answer(*refusal);
  }
  state_ = State::kClosed;
  accept_channel(
      loop_, std::move(stream_), options_.channel, parser_->get(), std::move(guard_),
      [weak = core_, request = std::move(request)](base::Result<std::unique_ptr<Channel>> channel) {
        const auto alive = weak.lock();
        if (alive == nullptr || !alive->on.channel || !channel.ok()) return;
        alive->on.channel(request, std::move(*channel));
      });
  leave();
}

void HttpConnection::refuse(int status, std::string message) {
  state_ = State::kAwaiting;
  last_ = true;
  answer({status, "text/plain; charset=utf-8", {}, std::move(message) + "\n"});
}

void HttpConnection::answer(const HttpResponse& response) {
  if (state_ != State::kAwaiting) return;
  const auto dropped = std::exchange(on_gone_, nullptr);
  state_ = State::kWriting;
  limit(options_.write_timeout);
  write(serialise(response, head_, last_));
}

void HttpConnection::write(std::string_view bytes) {
  pending_ += bytes;
  if (writing_) return;
  writing_ = true;
  out_ = std::exchange(pending_, {});
  asio::async_write(stream_, asio::buffer(out_),
                    [self = shared_from_this()](const ErrorCode& error, std::size_t) {
                      self->writing_ = false;
                      if (self->state_ != State::kClosed) self->on_written(error);
                    });
}

void HttpConnection::on_written(const ErrorCode& error) {
  if (error || ended_) return finish();
  if (!pending_.empty()) return write({});
  if (state_ != State::kWriting) return;
  out_ = {};
  if (last_) return drain();
  state_ = State::kReading;
  limit(options_.idle_timeout);
  if (in_.empty()) return read();
  parse();
}

void HttpConnection::drain() {
  state_ = State::kDraining;
  limit(kDrainTimeout);
  in_ = {};
  stream_.shutdown_send();
  read();
}

void HttpConnection::drop() {
  on_gone_ = nullptr;
  finish();
}

void HttpConnection::finish() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  stream_.close();
  leave();
  const auto gone = std::exchange(on_gone_, nullptr);
  if (gone) gone();
}

void HttpConnection::leave() {
  limit_.reset();
  guard_.reset();
  const auto core = core_.lock();
  if (core == nullptr) return;
  core->leave(id_);
  core->connections.erase(shared_from_this());
}

Responder::Responder(std::weak_ptr<HttpConnection> connection)
    : connection_(std::move(connection)) {}

Responder& Responder::operator=(Responder&& other) noexcept {
  if (this != &other) {
    Responder former(std::move(connection_));
    connection_ = std::move(other.connection_);
  }
  return *this;
}

Responder::~Responder() {
  if (connection_.expired()) return;
  answer(error_response(base::internal("the request was dropped without an answer")));
}

void Responder::answer(const HttpResponse& response) {
  const auto connection = std::exchange(connection_, {}).lock();
  if (connection != nullptr) connection->answer(response);
}

bool Responder::closed() const {
  const auto connection = connection_.lock();
  return connection == nullptr || !connection->waits_for_answer();
}

void Responder::on_gone(std::function<void()> callback) {
  if (const auto connection = connection_.lock()) connection->on_gone(std::move(callback));
}

}  // namespace gangrun::net
