#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "kubernetes/client.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::commands {

// The most that the program at the socket may leave untaken. The API server cannot be told to wait,
// so more breaks the connection.
inline constexpr std::size_t kMaxUntakenBytes = std::size_t{64} << 20U;
// The most that waits to be sent; more is left in the socket.
inline constexpr std::size_t kMaxUnsentBytes = std::size_t{1} << 20U;
// The way to a pod has no end of one direction: once the user's program has ended its own, the
// connection is over when nothing has come for so long.
inline constexpr base::Duration kMaxSilenceAfterEnd = base::seconds(30);

// One connection to this machine, carried to a port of a pod.
class PodConnection {
 public:
  // Opens the way to the port.
  using Opener =
      std::function<std::unique_ptr<kubernetes::Tunnel>(kubernetes::TunnelCallbacks callbacks)>;

  // `socket` does not block. `on_over` is called once, later: it has ended, or why it broke. Then
  // only the destructor is left to call; before that, it breaks the connection.
  PodConnection(net::EventLoop& loop, base::UniqueFd socket, const Opener& open,
                std::function<void(base::Result<>)> on_over);
  PodConnection(const PodConnection&) = delete;
  PodConnection& operator=(const PodConnection&) = delete;
  ~PodConnection();

 private:
  void read_on();
  void on_readable();
  void on_bytes(std::string_view piece);
  void on_pod_end(base::Result<> how);
  void write();
  void limit_silence();
  void over(base::Result<> how);

  net::EventLoop& loop_;
  base::UniqueFd socket_;
  std::function<void(base::Result<>)> on_over_;
  bool user_has_ended_ = false;
  bool pod_has_ended_ = false;
  bool is_over_ = false;
  std::string out_;  // for the socket
  std::string in_;   // a buffer
  net::Timer pause_;
  net::Timer silence_;
  net::Timer over_timer_;
  net::Watch readable_;
  net::Watch writable_;
  std::unique_ptr<kubernetes::Tunnel> tunnel_;
};

}  // namespace gangrun::kubernetes::commands
