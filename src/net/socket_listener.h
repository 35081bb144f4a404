#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"

namespace gangrun::net {

// Accepts connections and hands them on as they are: for who speaks a protocol of his own, or none.
// It listens at one place, for as long as it is there.
class SocketListener {
 public:
  // `on_connection` is handed each one, as a socket that does not block.
  SocketListener(EventLoop& loop, std::function<void(base::UniqueFd)> on_connection);

  // A port of 127.0.0.1; 0: any. The port.
  base::Result<std::uint16_t> listen_at_loopback(std::uint16_t port);
  // The same at all addresses of this machine, of IPv6 too where it has that.
  base::Result<std::uint16_t> listen_at_all(std::uint16_t port);
  // A socket that only this user can connect to, in a folder of his; one that is there already is
  // replaced.
  base::Result<> listen_at_path(const std::string& path);

 private:
  void accept_from_now_on();
  void on_readable();

  EventLoop& loop_;
  const std::function<void(base::UniqueFd)> on_connection_;
  base::UniqueFd socket_;
  Watch watch_;
  Timer pause_;
};

// A connection to such a socket.
base::Result<base::UniqueFd> connect_to_path(const std::string& path);

}  // namespace gangrun::net
