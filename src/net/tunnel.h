#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "net/channel.h"
#include "net/event_loop.h"
#include "net/tunnel_flow.h"

namespace gangrun::net {

// The path at which an agent serves tunnels.
inline constexpr std::string_view kTunnelPath = "/v1/tunnel";
// At once, of one agent and of one entrance.
inline constexpr std::size_t kMaxTunnels = 128;
// To a port of the same machine, and to an agent.
inline constexpr std::chrono::seconds kTunnelConnectTimeout{10};

// The options of the channels that carry tunnels, at both ends.
ChannelOptions tunnel_channel_options();

// A socket that connects to a port of 127.0.0.1; it may not be connected yet.
base::Result<base::UniqueFd> connect_to_loopback(std::uint16_t port);

// So that the program at the other end does not take a broken connection for one that has ended.
void close_with_reset(base::UniqueFd& socket);

struct SentBytes {
  std::size_t bytes = 0;
  int error_number =
      0;  // why no more could be sent; 0: the socket takes no more for now, or all is
};

// Sends what the socket takes now of `out`, where only the rest stays. Never blocks.
SentBytes send_what_fits(int socket, std::string& out);

// One TCP connection, carried to or from the other side by a channel. Both directions end by
// themselves; what the socket's program does not take is not read from the other side either.
class Tunnel {
 public:
  enum class Side {
    kEntrance,  // the socket is of who uses the tunnel, and connected
    kExit,      // it is of connect_to_loopback(); the other side is told when it is connected
  };

  // `on_over` is called once, later: both directions have ended, or why it broke. Then only the
  // destructor is left to call; before that, it breaks the connection.
  Tunnel(EventLoop& loop, Side side, base::UniqueFd socket, std::unique_ptr<Channel> channel,
         std::function<void(base::Result<>)> on_over);
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;
  ~Tunnel();

 private:
  void on_connected();
  void on_message(std::string_view message);
  void read_on();
  void on_readable();
  void write();
  void tell_taken(std::size_t bytes);
  void look_for_end();
  void break_off(base::Error reason);
  void over(base::Result<> how);

  EventLoop& loop_;
  const Side side_;
  base::UniqueFd socket_;
  std::unique_ptr<Channel> channel_;
  std::function<void(base::Result<>)> on_over_;
  TunnelFlow flow_;
  bool connected_ = false;
  bool is_over_ = false;
  std::string out_;  // for the socket
  std::string in_;   // a buffer
  Timer connect_limit_;
  Timer over_timer_;
  Watch readable_;
  Watch writable_;
};

}  // namespace gangrun::net
