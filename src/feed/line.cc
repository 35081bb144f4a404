#include "feed/line.h"

#include <sys/socket.h>

#include <utility>

namespace gangrun::feed {

base::Result<bool> Line::send(const Message& message, int passed_fd) {
  const std::lock_guard lock(mutex_);
  if (!fd_.valid()) return base::unavailable("the feeder has gone");
  return send_message(fd_.get(), message, passed_fd);
}

void Line::drop() {
  const std::lock_guard lock(mutex_);
  if (fd_.valid()) ::shutdown(fd_.get(), SHUT_RDWR);
}

void Line::close() {
  const std::lock_guard lock(mutex_);
  fd_.reset();
}

void Waker::set(std::shared_ptr<Line> line) {
  const std::lock_guard lock(mutex_);
  line_ = std::move(line);
}

void Waker::look(RingHeader& header, std::uint64_t there) {
  const std::uint64_t wanted = header.feeder_wants.load(std::memory_order_seq_cst);
  if (wanted == 0 || there < wanted) return;
  if (header.feeder_wants.exchange(0, std::memory_order_seq_cst) == 0) return;
  const std::lock_guard lock(mutex_);
  // If there is no feeder any more, or it has unread messages, nobody sleeps.
  if (line_ != nullptr) static_cast<void>(line_->send({.type = MessageType::kWake}));
}

void Waker::drop() {
  const std::lock_guard lock(mutex_);
  if (line_ != nullptr) line_->drop();
}

}  // namespace gangrun::feed
