#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/call.h"
#include "net/event_loop.h"

namespace gangrun::net {

// A connection to a server that is not ours and speaks a protocol of its own: bytes in their order,
// both ways. Destroying it ends the connection; what the kernel has taken still arrives.
class ByteStream {
 public:
  // A callback may destroy the stream; none comes after that.
  struct Callbacks {
    std::function<void()> on_connected;
    // The view is valid during the call.
    std::function<void(std::string_view)> on_bytes;
    // Called once when the connection has ended, or never came to be; errors as of call().
    std::function<void(const base::Error&)> on_closed;
  };
  static constexpr std::size_t kMaxQueuedBytes = std::size_t{64} << 20U;

  // Begins to connect, with TLS where the remote's URL says https, and gives up at `deadline`. A
  // name is resolved on a thread, which the destructor waits for, about until then at most.
  ByteStream(EventLoop& loop, std::shared_ptr<const Remote> remote, base::Instant deadline,
             Callbacks callbacks);
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  ~ByteStream();

  // Once connected. What the kernel does not take at once is queued; more than kMaxQueuedBytes end
  // the connection with kResourceExhausted. Nothing happens where it has ended.
  void send(std::string_view bytes);

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace gangrun::net
