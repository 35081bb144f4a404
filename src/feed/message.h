#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gangrun::feed {

// The messages over the socket beside the rings (docs/protocols/feed.md).
enum class MessageType : std::uint16_t {
  kHello = 1,     // feeder: `text` is the first half of the key
  kWelcome = 2,   // listener: `text` is the second half
  kTurn = 3,      // listener: a = number of the turn, b = head, c = tail of the ring passed with it
  kOutput = 4,    // listener: b = head of the ring passed with it, from which results come
  kWake = 5,      // listener: there is what the feeder waits for
  kProgress = 6,  // listener: the node has done something since the last one
  kRefused = 7,   // listener: `text` says why; nothing comes after it
  kEnd = 8,       // feeder: all is written
};

struct Message {
  MessageType type = MessageType::kHello;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  std::string text = {};

  bool operator==(const Message&) const = default;
};

inline constexpr std::size_t kMaxTextBytes = 1024;
inline constexpr std::size_t kMaxMessageBytes = 32 + kMaxTextBytes;

// Text beyond kMaxTextBytes is cut.
std::string encode(const Message& message);
// kDataLoss, or kFailedPrecondition where it is of another version.
base::Result<Message> decode(std::string_view bytes);

}  // namespace gangrun::feed
