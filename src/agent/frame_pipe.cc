#include "agent/frame_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/format.h"

namespace gangrun::agent {

namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr unsigned int kByteBits = 8;
constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;
// With the environment of a task.
constexpr std::size_t kMaxPipeFrameBytes = std::size_t{8} << 20U;

void make_nonblocking(int fd) { (void)::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

std::string with_length(std::string_view frame) {
  std::string text;
  for (std::size_t byte = kLengthBytes; byte-- > 0;) {
    text += static_cast<char>((frame.size() >> (byte * kByteBits)) & 0xffU);
  }
  return text.append(frame);
}

base::Result<std::optional<std::string>> FrameReader::next() {
  if (bytes_.size() < kLengthBytes) return std::optional<std::string>();
  std::size_t length = 0;
  for (std::size_t byte = 0; byte < kLengthBytes; ++byte) {
    length = (length << kByteBits) | static_cast<unsigned char>(bytes_[byte]);
  }
  if (length > max_bytes_) {
    return base::invalid_argument(
        base::format("a message of {} bytes; the limit is {}", length, max_bytes_));
  }
  if (bytes_.size() < kLengthBytes + length) return std::optional<std::string>();
  std::optional<std::string> frame = bytes_.substr(kLengthBytes, length);
  bytes_.erase(0, kLengthBytes + length);
  return frame;
}

FramePipe::FramePipe(net::EventLoop& loop, base::UniqueFd in, base::UniqueFd out,
                     Callbacks callbacks)
    : loop_(loop),
      in_(std::move(in)),
      out_(std::move(out)),
      callbacks_(std::move(callbacks)),
      reader_(kMaxPipeFrameBytes) {
  make_nonblocking(in_.get());
  make_nonblocking(out_.get());
  readable_ = loop_.watch_readable(in_.get(), [this] { on_readable(); });
}

void FramePipe::on_readable() {
  std::array<char, kPieceBytes> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::read(in_.get(), piece.data(), piece.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0) return end(base::from_errno(errno, "read what the other process says"));
  if (got == 0) return end({});
  reader_.add({piece.data(), static_cast<std::size_t>(got)});
  while (!has_ended_) {
    auto frame = reader_.next();
    if (!frame.ok()) return end(frame.error());
    if (!*frame) return;
    callbacks_.on_frame(**frame);
  }
}

void FramePipe::send(std::string_view frame) {
  if (!out_.valid() || has_ended_) return;
  out_bytes_ += with_length(frame);
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
