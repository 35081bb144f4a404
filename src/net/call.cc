#include "net/call.h"

#include "net/asio_internal.h"
//
#include <algorithm>
#include <array>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "net/alive.h"
#include "net/answer_internal.h"
#include "net/channel_internal.h"
#include "net/dialer_internal.h"
#include "net/http_wire_internal.h"
#include "net/remote_internal.h"

namespace gangrun::net {

namespace {

// The size that a silent stream keeps, and that makes a large answer cheap.
constexpr std::size_t kStreamChunkBytes = std::size_t{4} * 1024;
constexpr std::size_t kCallChunkBytes = std::size_t{16} * 1024;

// For people: without the query, where there may be a token.
std::string describe(const Remote& remote, const CallRequest& request) {
  return base::format("{} {}{}", request.method, remote.state().address,
                      request.target.substr(0, request.target.find('?')));
}

base::Result<> check_target(const CallRequest& request) {
  const bool is_good =
      request.target.starts_with('/') && std::all_of(request.target.begin(), request.target.end(),
                                                     [](char c) { return c > 0x20 && c < 0x7f; });
  if (is_good) return {};
  return base::invalid_argument("the target does not begin with \"/\" or is not encoded");
}

base::Result<std::string> make_head(const Remote& remote, const CallRequest& request) {
  GANGRUN_TRY(check_target(request));
  return serialise_head({request.method, request.target, remote.state().address}, request.headers,
                        request.body.size());
}

// The error of a connection that broke before all had come.
base::Error lost(const ErrorCode& error) {
  base::Error out = to_error(error, "waiting for the answer");
  if (out.code != base::Code::kUnauthenticated) out.code = base::Code::kUnavailable;
  return out;
}

class HttpCall final : public CallState, public std::enable_shared_from_this<HttpCall> {
 public:
  HttpCall(EventLoop& loop, std::shared_ptr<const Remote> remote, CallRequest request,
           const CallOptions& options, StreamCallbacks callbacks)
      : loop_(loop),
        options_(options),
        what_(describe(*remote, request)),
        made_head_(make_head(*remote, request)),
        body_(std::move(request.body)),
        callbacks_(std::make_shared<const StreamCallbacks>(std::move(callbacks))),
        dialer_(std::make_shared<Dialer>(loop, std::move(remote), options.deadline)),
        reader_(answer_options(request.method == "HEAD")),
        chunk_(callbacks_->on_piece ? kStreamChunkBytes : kCallChunkBytes) {}

  void start() {
    if (!made_head_.ok()) {
      return loop_.post(
          while_alive(weak_from_this(), [this] { finish(std::move(made_head_).error()); }));
    }
    head_ = base::Secret(*std::move(made_head_));
    dialer_->start(while_alive(weak_from_this(), [this](base::Result<Stream> stream) {
      dialer_.reset();
      if (!stream.ok()) return finish(std::move(stream).error());
      begin(std::move(*stream));
    }));
  }

  void cancel() override {
    const auto dropped = std::exchange(callbacks_, nullptr);
    limit_.reset();
    if (dialer_) dialer_->cancel();
    if (stream_) stream_->close();
  }

 private:
  AnswerOptions answer_options(bool is_head) {
    AnswerOptions out{is_head, options_.max_response_bytes, {}, {}};
    if (!callbacks_->on_piece) return out;
    out.on_begin = [this] { on_begin(); };
    out.on_piece = [this](std::string_view piece) {
      if (callbacks_) callbacks_->on_piece(piece);
    };
    return out;
  }

  void begin(Stream stream) {
    stream_.emplace(std::move(stream));
    limit_ = loop_.at(options_.deadline, while_alive(weak_from_this(), [this] {
                        finish(base::deadline_exceeded("gave up waiting for the answer"));
                      }));
    const std::array<asio::const_buffer, 2> pieces{asio::buffer(head_.reveal()),
                                                   asio::buffer(body_)};
    asio::async_write(*stream_, pieces,
                      [self = shared_from_this()](const ErrorCode& error, std::size_t) {
                        // A server may answer before it has read all; the answer says more.
                        self->write_error_ = error;
                        self->head_ = base::Secret();
                        self->body_ = std::string();
                        const auto kept = self->callbacks_;
                        if (!error && kept && kept->on_sent) kept->on_sent();
                      });
    read();
  }

  void read() {
    stream_->async_read_some(asio::buffer(chunk_),
                             [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
                               self->on_read(error, size);
                             });
  }

  void on_read(const ErrorCode& error, std::size_t size) {
    const auto kept = callbacks_;  // what is called lives until it returns
    if (kept == nullptr) return;
    moved_ = loop_.now();
    if (error) {
      if (error == asio::error::eof && reader_.put_end()) return finish(reader_.take());
      const bool is_of_tls = error.category() == asio::error::get_ssl_category();
      return finish(lost(write_error_ && !is_of_tls ? write_error_ : error));
    }
    auto complete = reader_.put({chunk_.data(), size});
    if (callbacks_ == nullptr) return;
    if (!complete.ok()) return finish(std::move(complete).error());
    if (*complete) return finish(reader_.take());
    read();
  }

  void on_begin() {
    limit_.reset();
    if (options_.idle_limit > base::Duration::zero()) watch_silence();
    if (callbacks_ && callbacks_->on_begin) callbacks_->on_begin();
  }

  void watch_silence() {
    limit_ = loop_.at(moved_ + options_.idle_limit, while_alive(weak_from_this(), [this] {
                        if (loop_.now() < moved_ + options_.idle_limit) return watch_silence();
                        finish(base::deadline_exceeded(base::format(
                            "gave up waiting for more of the answer: nothing has come for {}",
                            base::to_words(options_.idle_limit))));
                      }));
  }

  void finish(base::Result<HttpResponse> result) {
    const auto callbacks = callbacks_;
    cancel();
    if (callbacks) callbacks->on_end(std::move(result).context(what_));
  }

  EventLoop& loop_;
  const CallOptions options_;
  const std::string what_;
  base::Result<std::string> made_head_;
  base::Secret head_;  // this and the body: until they are written
  std::string body_;
  std::shared_ptr<const StreamCallbacks> callbacks_;  // null: it has ended
  std::shared_ptr<Dialer> dialer_;
  Timer limit_;

  std::optional<Stream> stream_;
  ErrorCode write_error_;
  AnswerReader reader_;
  std::vector<char> chunk_;
  base::Instant moved_;  // when bytes came last
};

class ChannelCall final : public CallState, public std::enable_shared_from_this<ChannelCall> {
 public:
  ChannelCall(EventLoop& loop, const std::shared_ptr<const Remote>& remote, CallRequest request,
              std::vector<std::string> subprotocols, base::Instant deadline, ChannelDone on_done,
              const ChannelOptions& options)
      : loop_(loop),
        deadline_(deadline),
        options_(options),
        what_(describe(*remote, request)),
        checked_(check(request)),
        wanted_{remote->state().address, std::move(request.target), std::move(request.headers),
                std::move(subprotocols)},
        on_done_(std::move(on_done)),
        dialer_(std::make_shared<Dialer>(loop, remote, deadline)) {
    options_.is_binary = true;
  }

  void start() {
    if (!checked_.ok()) {
      return loop_.post(
          while_alive(weak_from_this(), [this] { finish(std::move(checked_).error()); }));
    }
    dialer_->start(while_alive(weak_from_this(), [this](base::Result<Stream> stream) {
      dialer_.reset();
      if (!stream.ok()) return finish(std::move(stream).error());
      open(std::move(*stream));
    }));
  }

  void cancel() override {
    const auto dropped = std::exchange(on_done_, nullptr);
    limit_.reset();
    if (dialer_) dialer_->cancel();
    if (const auto give_up = std::exchange(give_up_, nullptr)) give_up();
  }

 private:
  static base::Result<> check(const CallRequest& request) {
    GANGRUN_TRY(check_target(request));
    return check_headers(request.headers);
  }

  void open(Stream stream) {
    limit_ = loop_.at(deadline_, while_alive(weak_from_this(), [this] {
                        finish(base::deadline_exceeded("gave up waiting for a WebSocket"));
                      }));
    wanted_.on_refusal = [weak = weak_from_this()](const HttpResponse& response) {
      if (const auto self = weak.lock()) self->is_refused_ = true;
      if (response.body.empty()) return error_of(response);
      return base::Error{code_of_status(response.status), response.body};
    };
    give_up_ = net::open_channel(
        loop_, std::move(stream), options_, std::move(wanted_),
        while_alive(weak_from_this(), [this](base::Result<std::unique_ptr<Channel>> channel) {
          give_up_ = nullptr;
          finish(std::move(channel));
        }));
  }

  void finish(base::Result<std::unique_ptr<Channel>> result) {
    const ChannelDone done = std::exchange(on_done_, nullptr);
    cancel();
    if (!done) return;
    // A refusal is what the server says and nothing else.
    done(is_refused_ ? std::move(result) : std::move(result).context(what_));
  }

  EventLoop& loop_;
  const base::Instant deadline_;
  ChannelOptions options_;
  const std::string what_;
  base::Result<> checked_;
  ChannelRequest wanted_;
  ChannelDone on_done_;
  std::shared_ptr<Dialer> dialer_;
  Timer limit_;
  bool is_refused_ = false;
  std::function<void()> give_up_;
};

template <typename State, typename... Arguments>
Call started(Arguments&&... arguments) {
  auto state = std::make_shared<State>(std::forward<Arguments>(arguments)...);
  state->start();
  return Call(std::move(state));
}

}  // namespace

Call call(EventLoop& loop, std::shared_ptr<const Remote> remote, CallRequest request,
          const CallOptions& options, std::function<void(base::Result<HttpResponse>)> on_done) {
  return started<HttpCall>(loop, std::move(remote), std::move(request), options,
                           StreamCallbacks{{}, {}, {}, std::move(on_done)});
}

Call stream(EventLoop& loop, std::shared_ptr<const Remote> remote, CallRequest request,
            const CallOptions& options, StreamCallbacks callbacks) {
  GANGRUN_CHECK(callbacks.on_piece != nullptr, request.method);
  return started<HttpCall>(loop, std::move(remote), std::move(request), options,
                           std::move(callbacks));
}

Call open_channel(EventLoop& loop, const std::shared_ptr<const Remote>& remote, CallRequest request,
                  std::vector<std::string> subprotocols, base::Instant deadline,
                  std::function<void(base::Result<std::unique_ptr<Channel>>)> on_done,
                  ChannelOptions options) {
  return started<ChannelCall>(loop, remote, std::move(request), std::move(subprotocols), deadline,
                              std::move(on_done), options);
}

}  // namespace gangrun::net
