#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "net/frames.h"
#include "net/relay_frames.h"

// The frames that gangrun and its programs in pods send each other, after a proof (proof.h), over a
// forwarded port: docs/protocols/kubernetes.md. A frame is its length (4 bytes, the highest first),
// a letter for its kind, and its content.
namespace gangrun::kubernetes {

// The variable by which a program in a pod knows the pod's address ("status.podIP").
inline constexpr const char* kPodAddressVariable = "GANGRUN_POD_IP";

// The letter, a stream's number and a message of net::TunnelFlow take less.
inline constexpr std::size_t kMaxLinkFrameBytes = std::size_t{64} << 10U;

// Connections that a relay carries at once: of each task of a job one, and as many more as agents
// that come again have before their old ones are known to be gone.
inline constexpr std::size_t kMaxRelayed = 16'384;
// While so much waits for the other side of a relay, nothing more is read from what it carries.
inline constexpr std::size_t kEnoughWaiting = std::size_t{256} << 10U;

// The relay's first word: where agents connect to it, "host:port".
struct HereFrame {
  std::string_view address;
};

// The client wants the agents' connections from now on.
struct CarryFrame {};

// Asks for a sign of life.
struct PingFrame {};

// The answer to that, and to a hint.
struct AnswerFrame {};

// For an agent: where it reaches its master from now on, "host:port", by the word of which master.
struct HintFrame {
  std::uint32_t attempt = 0;
  std::string_view address;
};

// The views are of the bytes that were read.
using LinkFrame = std::variant<HereFrame, CarryFrame, PingFrame, AnswerFrame, HintFrame,
                               net::OpenFrame, net::StreamFrame>;

LinkFrame to_frame(const net::RelayFrame& frame);

std::string to_bytes(const LinkFrame& frame);

// Cuts what comes into frames.
class LinkReader {
 public:
  void add(std::string_view bytes) { frames_.feed(bytes); }
  // The next whole frame, or none yet; valid until the next call of this object. An error: what
  // comes is no frame, nor will be.
  base::Result<std::optional<LinkFrame>> next();

 private:
  net::FrameReader frames_{kMaxLinkFrameBytes};
  std::string current_;
};

}  // namespace gangrun::kubernetes
