#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// Several streams on one WebSocket: the first byte of each message says of which one it is
// ("v4.channel.k8s.io", and "v5", which adds what we do not use). docs/protocols/kubernetes.md.
namespace gangrun::kubernetes {

inline constexpr int kOutputChannel = 1;
inline constexpr int kErrorsChannel = 2;
inline constexpr int kStatusChannel = 3;

struct Frame {
  int channel = 0;
  std::string_view bytes;  // of the message; may be empty
};

// None: a message without a channel.
std::optional<Frame> read_frame(std::string_view message);

// The exit status of a command, from what comes last on kStatusChannel. An error: it did not run,
// or how it ended is not known.
base::Result<int> read_exit_status(std::string_view status);

// The two streams of one forwarded port, data and errors. The first two bytes of each are the
// port's number.
class PortFrames {
 public:
  enum class Kind { kNothing, kOpen, kBytes, kRefused };
  struct Event {
    Kind kind = Kind::kNothing;
    std::string_view bytes;  // of the message
  };

  explicit PortFrames(std::uint16_t port) : port_(port) {}

  // kDataLoss: not what a port is forwarded with.
  base::Result<Event> take(std::string_view message);

 private:
  const std::uint16_t port_;
  bool is_open_[2] = {false, false};
};

// The frame of bytes to the port.
std::string make_port_frame(std::string_view bytes);

}  // namespace gangrun::kubernetes
