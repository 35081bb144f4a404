#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"

namespace gangrun::net {

// Accepts the connections to a port of 127.0.0.1.
class LoopbackListener {
 public:
  // `on_connection` is handed each one, as a socket that does not block.
  LoopbackListener(EventLoop& loop, std::function<void(base::UniqueFd)> on_connection);

  // 0: any port. The port.
  base::Result<std::uint16_t> listen(std::uint16_t port);

 private:
  void accept_from_now_on();
  void on_readable();

  EventLoop& loop_;
  const std::function<void(base::UniqueFd)> on_connection_;
  base::UniqueFd socket_;
  Watch watch_;
  Timer pause_;
};

}  // namespace gangrun::net
