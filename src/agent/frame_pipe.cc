#include "agent/frame_pipe.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "process/pipe.h"

namespace gangrun::agent {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;
// With the environment of a task.
constexpr std::size_t kMaxPipeFrameBytes = std::size_t{8} << 20U;

}  // namespace

FramePipe::FramePipe(net::EventLoop& loop, base::UniqueFd in, base::UniqueFd out,
                     Callbacks callbacks)
    : loop_(loop),
      in_(std::move(in)),
      out_(std::move(out)),
      callbacks_(std::move(callbacks)),
      reader_(kMaxPipeFrameBytes) {
  process::set_non_blocking(in_.get());
  process::set_non_blocking(out_.get());
  readable_ = loop_.watch_readable(in_.get(), [this] { on_readable(); });
}

void FramePipe::on_readable() {
  std::array<char, kPieceBytes> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::read(in_.get(), piece.data(), piece.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0) return end(base::from_errno(errno, "read what the other process says"));
  if (got == 0) return end({});
  reader_.feed({piece.data(), static_cast<std::size_t>(got)});
  while (!has_ended_) {
    auto frame = reader_.next();
    if (!frame.ok()) return end(frame.error());
    if (!*frame) return;
    callbacks_.on_frame(**frame);
  }
}

void FramePipe::send(std::string_view frame) {
  if (!out_.valid() || has_ended_) return;
  out_bytes_ += net::framed(frame);
  if (!writable_.active()) write();
}

void FramePipe::write() {
  while (!out_bytes_.empty()) {
    const ssize_t size = ::write(out_.get(), out_bytes_.data(), out_bytes_.size());
    if (size >= 0) {
      out_bytes_.erase(0, static_cast<std::size_t>(size));
    } else if (errno == EAGAIN) {
      if (!writable_.active()) {
        writable_ = loop_.watch_writable(out_.get(), [this] { write(); });
      }
      return;
    } else if (errno != EINTR) {
      // Its end is read, too.
      return close_out();
    }
  }
  writable_.reset();
  if (const auto callback = std::exchange(when_sent_, nullptr)) callback();
}

void FramePipe::close_out() {
  writable_.reset();
  out_bytes_.clear();
  out_.reset();
  if (const auto callback = std::exchange(when_sent_, nullptr)) callback();
}

void FramePipe::when_sent(std::function<void()> callback) {
  if (out_bytes_.empty()) return callback();
  when_sent_ = std::move(callback);
}

void FramePipe::end(base::Result<> how) {
  if (std::exchange(has_ended_, true)) return;
  readable_.reset();
  callbacks_.on_end(std::move(how));
}

}  // namespace gangrun::agent
