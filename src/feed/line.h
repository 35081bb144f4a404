#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "base/result.h"
#include "base/unique_fd.h"
#include "feed/message.h"
#include "feed/ring_memory.h"

namespace gangrun::feed {

// The socket to one feeder. One thread reads it; all may send.
class Line {
 public:
  explicit Line(base::UniqueFd fd) : fd_(std::move(fd)) {}

  // For the reading thread, until it calls close().
  [[nodiscard]] int fd() const { return fd_.get(); }
  // As send_message(); kUnavailable after close().
  base::Result<bool> send(const Message& message, int passed_fd = -1);
  // The reading thread finds that the feeder has gone.
  void drop();
  void close();

 private:
  std::mutex mutex_;
  base::UniqueFd fd_;
};

// Wakes the feeder whose turn it is, when there is what it waits for.
class Waker {
 public:
  void set(std::shared_ptr<Line> line);
  // `there`: bytes of room, or of results.
  void look(RingHeader& header, std::uint64_t there);
  // Ends the connection of whose turn it is.
  void drop();

 private:
  std::mutex mutex_;
  std::shared_ptr<Line> line_;
};

}  // namespace gangrun::feed
