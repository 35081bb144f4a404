#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::hadoop {

// A TCP connection for straight-line code on a worker thread. Nothing blocks longer than until the
// deadline that it is given. Errors: kDeadlineExceeded, else kUnavailable.
class BlockingSocket {
 public:
  // The host's addresses one after the other, until one accepts.
  static base::Result<BlockingSocket> connect(const std::string& host, int port,
                                              base::Instant deadline);

  base::Result<> send(std::string_view bytes, base::Instant deadline);
  // The bytes that have come, at least one. The end of the stream is an error.
  base::Result<std::string> receive(base::Instant deadline);

 private:
  explicit BlockingSocket(base::UniqueFd fd) : fd_(std::move(fd)) {}
  static base::Result<BlockingSocket> connect_to(const std::string& address, int port,
                                                 base::Instant deadline);

  base::UniqueFd fd_;
};

}  // namespace gangrun::hadoop
