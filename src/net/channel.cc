#include "net/channel.h"

#include "net/asio_internal.h"
//
#include <algorithm>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/error.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <deque>
#include <optional>

#include "base/format.h"
#include "base/strings.h"
#include "net/alive.h"
#include "net/channel_internal.h"

namespace gangrun::net {

namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

namespace {

constexpr std::size_t kMaxReasonBytes = 120;  // a control frame carries 123
constexpr std::size_t kMaxKeptBytes =
    std::size_t{64} * 1024;  // of read buffer between two messages
constexpr std::size_t kMaskBufferBytes =
    std::size_t{16} * 1024;  // of a client, for its write in progress
constexpr base::Duration kHandshakeTimeout = base::seconds(20);

websocket::close_code close_code_of(base::Code code) {
  switch (code) {
    case base::Code::kPermissionDenied:
    case base::Code::kUnauthenticated: return websocket::close_code::policy_error;
    case base::Code::kResourceExhausted: return websocket::close_code::too_big;
    default: return websocket::close_code::normal;
  }
}

base::Error farewell_error(const websocket::close_reason& reason) {
  const std::string text(reason.reason.data(), reason.reason.size());
  base::Code code = base::Code::kUnavailable;
  if (reason.code == websocket::close_code::policy_error) code = base::Code::kPermissionDenied;
  if (reason.code == websocket::close_code::too_big) code = base::Code::kResourceExhausted;
  if (text.empty()) return {code, "the other side closed the connection"};
  return {code, "the other side closed the connection: " + text};
}

}  // namespace

class Channel::State : public std::enable_shared_from_this<Channel::State> {
 public:
  using MessageCallback = std::function<void(std::string_view)>;
  using ClosedCallback = std::function<void(base::Error)>;

  State(EventLoop& loop, Stream stream, const ChannelOptions& options, std::shared_ptr<void> guard);

  void accept(const beast::http::request<beast::http::string_body>& request, ChannelDone done);
  void open(ChannelRequest request, ChannelDone done);
  // Ends the connection without a farewell and calls nothing back.
  void give_up();

  void on_message(MessageCallback callback);
  void on_closed(ClosedCallback callback);
  void send(std::shared_ptr<const std::string> message);
  void close(std::string_view reason, base::Code code);
  void abandon();

  [[nodiscard]] std::optional<std::string> farewell() const;
  [[nodiscard]] std::size_t queued_bytes() const { return queued_bytes_; }
  [[nodiscard]] const Peer& peer() const { return peer_; }

 private:
  void read();
  void on_read(const ErrorCode& error);
  void write();
  void on_written(const ErrorCode& error);
  void say_farewell();
  void end(base::Error reason);
  void deliver_end();
  base::Error error_of_operation(const ErrorCode& error) const;
  base::Result<> judge_answer(const ErrorCode& error, const ChannelRequest& request) const;

  EventLoop& loop_;
  const ChannelOptions options_;
  std::shared_ptr<void> guard_;
  const Peer peer_;
  websocket::stream<Stream, false> socket_;
  websocket::response_type handshake_response_;
  ChannelDone handshake_done_;

  beast::flat_buffer in_;
  bool reading_ = false;
  std::deque<std::shared_ptr<const std::string>> queue_;
  std::size_t queued_bytes_ = 0;
  bool writing_ = false;

  // The reason of a close() of our own.
  std::optional<websocket::close_reason> farewell_;
  bool farewell_said_ = false;
  Timer farewell_limit_;
  std::optional<base::Error> end_;

  // Shared, so that a callback that replaces or drops itself lives until it returns.
  std::shared_ptr<MessageCallback> message_callback_;
  ClosedCallback closed_callback_;
};

Channel::State::State(EventLoop& loop, Stream stream, const ChannelOptions& options,
                      std::shared_ptr<void> guard)
    : loop_(loop),
      options_(options),
      guard_(std::move(guard)),
      peer_(stream.describe_peer()),
      socket_(std::move(stream)) {
  socket_.set_option(
      websocket::stream_base::timeout{kHandshakeTimeout, options.idle_timeout, true});
  socket_.read_message_max(options.max_message_bytes);
  socket_.write_buffer_bytes(kMaskBufferBytes);
  socket_.auto_fragment(false);
  socket_.binary(options.is_binary);
}

void Channel::State::accept(const beast::http::request<beast::http::string_body>& request,
                            ChannelDone done) {
  handshake_done_ = std::move(done);
  socket_.async_accept(request, [self = shared_from_this()](const ErrorCode& error) {
    const auto finished = std::exchange(self->handshake_done_, nullptr);
    if (!finished) return;
    if (error) return finished(to_error(error, "answer a WebSocket handshake"));
    finished(std::make_unique<Channel>(self));
  });
}

void Channel::State::open(ChannelRequest request, ChannelDone done) {
  handshake_done_ = std::move(done);
  const auto wanted = std::make_shared<ChannelRequest>(std::move(request));
  socket_.set_option(
      websocket::stream_base::timeout{websocket::stream_base::none(), options_.idle_timeout, true});
  // Beast does not free what a decorator owns.
  socket_.set_option(
      websocket::stream_base::decorator([wanted = wanted.get()](websocket::request_type& message) {
        for (const auto& [name, value] : wanted->headers.fields()) message.set(name, value);
        if (wanted->subprotocols.empty()) return;
        message.set(beast::http::field::sec_websocket_protocol,
                    base::format("{}", base::join(wanted->subprotocols, ", ")));
      }));
  const auto handler = [self = shared_from_this(), wanted](const ErrorCode& error) {
    const auto finished = std::exchange(self->handshake_done_, nullptr);
    if (!finished) return;
    auto judged = self->judge_answer(error, *wanted);
    self->handshake_response_ = {};
    if (!judged.ok()) return finished(std::move(judged).error());
    finished(std::make_unique<Channel>(self));
  };
  socket_.async_handshake(handshake_response_, wanted->host, wanted->target, handler);
  // The request has been built; the headers (a token among them) are not kept.
  socket_.set_option(websocket::stream_base::decorator([](websocket::request_type&) {}));
  wanted->headers = {};
}

base::Result<> Channel::State::judge_answer(const ErrorCode& error,
                                            const ChannelRequest& request) const {
  const websocket::response_type& answer = handshake_response_;
  if (error == websocket::error::upgrade_declined) {
    return request.on_refusal(
        HttpResponse{static_cast<int>(answer.result_int()), {}, {}, answer.body()});
  }
  if (error) return to_error(error, "open a WebSocket");
  const std::string taken(answer[beast::http::field::sec_websocket_protocol]);
  const auto& offered = request.subprotocols;
  if (offered.empty() || std::find(offered.begin(), offered.end(), taken) != offered.end()) {
    return {};
  }
  return base::Error{
      base::Code::kFailedPrecondition,
      base::format("the server speaks \"{}\" on a WebSocket and none of {}",
                   base::shorten(taken, kMaxReasonBytes), base::join(offered, ", "))};
}

void Channel::State::give_up() {
  const auto dropped = std::exchange(handshake_done_, nullptr);
  if (!dropped) return;
  end_ = base::Error{base::Code::kCancelled, "given up"};
  socket_.next_layer().close();
}

void Channel::State::on_message(MessageCallback callback) {
  message_callback_ = std::make_shared<MessageCallback>(std::move(callback));
  if (!reading_ && !end_) read();
}

void Channel::State::on_closed(ClosedCallback callback) {
  closed_callback_ = std::move(callback);
  if (end_) loop_.post([self = shared_from_this()] { self->deliver_end(); });
}

void Channel::State::read() {
  reading_ = true;
  socket_.async_read(in_, [self = shared_from_this()](const ErrorCode& error, std::size_t) {
    self->on_read(error);
  });
}

void Channel::State::on_read(const ErrorCode& error) {
  if (end_) return;
  if (error) {
    reading_ = false;
    return end(error_of_operation(error));
  }
  // reading_ stays true: a callback that sets another one must not start a second read.
  if (socket_.got_binary() != options_.is_binary) {
    // Told to the other side; the end follows when it has answered.
    close(options_.is_binary ? "only binary messages are understood"
                             : "only text messages are understood",
          base::Code::kInvalidArgument);
  } else if (!farewell_) {
    const auto callback = message_callback_;
    if (callback) (*callback)({static_cast<const char*>(in_.data().data()), in_.size()});
  }
  if (end_) return;
  in_.consume(in_.size());
  if (in_.capacity() > kMaxKeptBytes) in_ = beast::flat_buffer();
  read();
}

void Channel::State::send(std::shared_ptr<const std::string> message) {
  if (end_ || farewell_) return;
  queued_bytes_ += message->size() + kMessageOverheadBytes;
  if (queued_bytes_ > options_.max_queued_bytes) {
    return end({base::Code::kResourceExhausted,
                base::format("the other side takes its messages too slowly: {} bytes wait, {} may",
                             queued_bytes_, options_.max_queued_bytes)});
  }
  queue_.push_back(std::move(message));
  if (!writing_) write();
}

void Channel::State::write() {
  writing_ = true;
  socket_.async_write(asio::buffer(*queue_.front()),
                      [self = shared_from_this()](const ErrorCode& error, std::size_t) {
                        self->on_written(error);
                      });
}

void Channel::State::on_written(const ErrorCode& error) {
  writing_ = false;
  queued_bytes_ -= queue_.front()->size() + kMessageOverheadBytes;
  queue_.pop_front();
  if (end_) return;
  if (error) {
    if (!reading_) return end(error_of_operation(error));
    // The other side's farewell may wait to be read and says why.
    farewell_limit_ = loop_.after(kCloseTimeout, while_alive(weak_from_this(), [this, error] {
                                    end(error_of_operation(error));
                                  }));
    return;
  }
  if (!queue_.empty()) return write();
  if (farewell_) say_farewell();
}

void Channel::State::close(std::string_view reason, base::Code code) {
  if (end_ || farewell_) return;
  farewell_.emplace(close_code_of(code), base::shorten(reason, kMaxReasonBytes));
  farewell_limit_ = loop_.after(kCloseTimeout, while_alive(weak_from_this(), [this] {
                                  end({base::Code::kCancelled, "closed here"});
                                }));
  if (!writing_) say_farewell();
}

void Channel::State::say_farewell() {
  if (std::exchange(farewell_said_, true)) return;
  socket_.async_close(*farewell_, [self = shared_from_this()](const ErrorCode&) {
    self->end({base::Code::kCancelled,
               base::format("closed here: {}", std::string_view(self->farewell_->reason.data(),
                                                                self->farewell_->reason.size()))});
  });
}

std::optional<std::string> Channel::State::farewell() const {
  const auto& said = socket_.reason().reason;
  if (said.empty()) return std::nullopt;
  return std::string(said.data(), said.size());
}

void Channel::State::abandon() {
  message_callback_ = nullptr;
  const auto dropped = std::exchange(closed_callback_, nullptr);
  close("", base::Code::kUnavailable);
}

void Channel::State::end(base::Error reason) {
  if (end_) return;
  end_ = std::move(reason);
  farewell_limit_.reset();
  guard_.reset();
  socket_.next_layer().close();
  loop_.post([self = shared_from_this()] { self->deliver_end(); });
}

void Channel::State::deliver_end() {
  message_callback_ = nullptr;
  const auto callback = std::exchange(closed_callback_, nullptr);
  if (callback) callback(*end_);
}

base::Error Channel::State::error_of_operation(const ErrorCode& error) const {
  if (farewell_) return {base::Code::kCancelled, "closed here"};
  if (error == websocket::error::closed) return farewell_error(socket_.reason());
  if (error == websocket::error::message_too_big || error == websocket::error::buffer_overflow) {
    return {base::Code::kResourceExhausted,
            base::format("a message has more than {} bytes", options_.max_message_bytes)};
  }
  if (error == beast::error::timeout) {
    return base::deadline_exceeded(
        base::format("nothing was heard for {}", base::to_words(options_.idle_timeout)));
  }
  if (error.category() == make_error_code(websocket::error::closed).category()) {
    return base::invalid_argument("the other side breaks the protocol: " + error.message());
  }
  base::Error other = to_error(error, "the connection");
  other.code = base::Code::kUnavailable;
  return other;
}

Channel::Channel(std::shared_ptr<State> state) : state_(std::move(state)) {}
Channel::~Channel() { state_->abandon(); }

void Channel::on_message(std::function<void(std::string_view)> callback) {
  state_->on_message(std::move(callback));
}
void Channel::on_closed(std::function<void(base::Error)> callback) {
  state_->on_closed(std::move(callback));
}
void Channel::send(std::string message) {
  state_->send(std::make_shared<const std::string>(std::move(message)));
}
void Channel::send(std::shared_ptr<const std::string> message) { state_->send(std::move(message)); }
void Channel::close(std::string_view reason, base::Code code) { state_->close(reason, code); }
std::optional<std::string> Channel::farewell() const { return state_->farewell(); }
std::size_t Channel::queued_bytes() const { return state_->queued_bytes(); }
const Peer& Channel::peer() const { return state_->peer(); }

void accept_channel(EventLoop& loop, Stream stream, const ChannelOptions& options,
                    const beast::http::request<beast::http::string_body>& request,
                    std::shared_ptr<void> guard, ChannelDone done) {
  std::make_shared<Channel::State>(loop, std::move(stream), options, std::move(guard))
      ->accept(request, std::move(done));
}

std::function<void()> open_channel(EventLoop& loop, Stream stream, const ChannelOptions& options,
                                   ChannelRequest request, ChannelDone done) {
  auto state = std::make_shared<Channel::State>(loop, std::move(stream), options, nullptr);
  state->open(std::move(request), std::move(done));
  return [weak = std::weak_ptr<Channel::State>(state)] {
    if (const auto alive = weak.lock()) alive->give_up();
  };
}

}  // namespace gangrun::net
