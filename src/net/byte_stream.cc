#include "net/byte_stream.h"

#include "net/asio_internal.h"
//
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/format.h"
#include "net/alive.h"
#include "net/dialer_internal.h"
#include "net/stream_internal.h"

namespace gangrun::net {

class ByteStream::State : public std::enable_shared_from_this<ByteStream::State> {
 public:
  State(EventLoop& loop, std::shared_ptr<const Remote> remote, base::Instant deadline,
        Callbacks callbacks)
      : loop_(loop),
        dialer_(std::make_shared<Dialer>(loop, std::move(remote), deadline)),
        callbacks_(std::make_shared<const Callbacks>(std::move(callbacks))) {}

  void start() {
    dialer_->start(while_alive(
        weak_from_this(), [this](base::Result<Stream> stream) { on_dialed(std::move(stream)); }));
  }

  void send(std::string_view bytes) {
    if (!stream_) return;
    if (queued_.size() + bytes.size() > kMaxQueuedBytes) {
      return end_later({base::Code::kResourceExhausted,
                        base::format("more than {} bytes wait to be sent", kMaxQueuedBytes)});
    }
    queued_ += bytes;
    if (!waits_) write();
  }

  // Without a word to anybody.
  void drop() {
    callbacks_.reset();
    dialer_->cancel();
    if (stream_) stream_->close();
    stream_.reset();
  }

 private:
  // It may drop this, and what is called lives until it returns.
  template <typename Callback, typename... Values>
  void call(Callback Callbacks::*which, Values... values) {
    const auto callbacks = callbacks_;
    if (callbacks != nullptr) ((*callbacks).*which)(values...);
  }

  void on_dialed(base::Result<Stream> stream) {
    if (!stream.ok()) return end(std::move(stream).error());
    stream_.emplace(std::move(*stream));
    read();
    call(&Callbacks::on_connected);
  }

  void read() {
    stream_->async_read_some(asio::buffer(chunk_), [self = shared_from_this()](
                                                       const ErrorCode& error, std::size_t size) {
      if (!self->stream_) return;
      if (error) return self->end(to_error(error, "read"));
      self->call(&Callbacks::on_bytes, std::string_view(self->chunk_.data(), size));
      if (self->stream_) self->read();
    });
  }

  void write() {
    while (!queued_.empty()) {
      const auto put = stream_->write_now(queued_);
      if (!put.ok()) {
        queued_.clear();
        return end_later(put.error());
      }
      queued_.erase(0, *put);
      if (*put > 0) continue;
      waits_ = true;
      stream_->when_writable(while_alive(weak_from_this(), [this](const ErrorCode& error) {
        if (!stream_) return;
        waits_ = false;
        if (error) return end(to_error(error, "write"));
        write();
      }));
      return;
    }
  }

  // Not at once: the caller may not expect its end here.
  void end_later(const base::Error& error) {
    loop_.post(while_alive(weak_from_this(), [this, error] { end(error); }));
  }

  void end(const base::Error& error) {
    const auto callbacks = callbacks_;
    drop();
    if (callbacks != nullptr) callbacks->on_closed(error);
  }

  EventLoop& loop_;
  std::shared_ptr<Dialer> dialer_;
  std::shared_ptr<const Callbacks> callbacks_;  // none: nobody is to hear any more
  std::optional<Stream> stream_;
  std::array<char, std::size_t{16} << 10U> chunk_{};
  std::string queued_;
  bool waits_ = false;  // for room in the kernel
};

ByteStream::ByteStream(EventLoop& loop, std::shared_ptr<const Remote> remote,
                       base::Instant deadline, Callbacks callbacks)
    : state_(std::make_shared<State>(loop, std::move(remote), deadline, std::move(callbacks))) {
  state_->start();
}

ByteStream::~ByteStream() { state_->drop(); }

void ByteStream::send(std::string_view bytes) { state_->send(bytes); }

}  // namespace gangrun::net
