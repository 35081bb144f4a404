#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"
#include "base/result.h"
#include "net/relay_frames.h"

// The frames that gangrun and a host's keeper (node/keeper.h) send each other, over the one channel
// that ssh gives them: docs/protocols/ssh.md. A frame is its length (4 bytes, the highest first), a
// letter for its kind, and its content.
namespace gangrun::ssh {

inline constexpr std::size_t kMaxFrameBytes = std::size_t{8} << 20U;
// The most bytes of a file or a log in one frame.
inline constexpr std::size_t kMaxChunkBytes = std::size_t{64} << 10U;

// A message (keeper_messages.h).
struct MessageFrame {
  base::Json message;
};

// Connections of agents to the master; the keeper gives the numbers.
using OpenFrame = net::OpenFrame;
using StreamFrame = net::StreamFrame;

// Bytes of a log of an agent, which begin at `offset` of the file on the host. Agent 0: what the
// host's agents say of themselves.
struct LogFrame {
  std::uint32_t agent = 0;
  bool is_error = false;
  std::uint64_t offset = 0;
  std::string_view content;
};

// The next bytes of the file that a message has begun.
struct FileFrame {
  std::string_view content;
};

// The views are of the bytes that were read.
using Frame = std::variant<MessageFrame, OpenFrame, StreamFrame, LogFrame, FileFrame>;

Frame to_frame(const net::RelayFrame& frame);

std::string to_bytes(const Frame& frame);

// Cuts what comes into frames.
class FrameReader {
 public:
  void add(std::string_view bytes) { buffer_.append(bytes); }
  // The next whole frame, or none yet; valid until the next call of this object. An error: what
  // comes is no frame, nor will be.
  base::Result<std::optional<Frame>> next();

 private:
  std::string buffer_;
  std::size_t begin_ = 0;  // of what was not given yet
};

}  // namespace gangrun::ssh
