#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

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

// Unix sockets of the abstract namespace, which leave no file; messages stay apart, and descriptors
// travel with them. No call here waits, but for connect_to().

// kAlreadyExists: somebody listens there.
base::Result<base::UniqueFd> listen_at(const std::string& name);
// None: nobody has come.
base::Result<std::optional<base::UniqueFd>> accept_at(int listening);
// kNotFound at once where nobody listens; kDeadlineExceeded where a listener does not accept.
base::Result<base::UniqueFd> connect_to(const std::string& name, base::Duration timeout);

// kPermissionDenied unless the other end is of the same user, or root's. Gives a descriptor that
// becomes readable when that process ends; none where the kernel cannot.
base::Result<base::UniqueFd> check_peer(int fd);

// False when the peer reads so little that there is no room for more.
base::Result<bool> send_message(int fd, const Message& message, int passed_fd = -1);

struct Received {
  Message message;
  base::UniqueFd fd;
};
// None: nothing is there. kUnavailable: the other end is gone; else as decode().
base::Result<std::optional<Received>> receive_message(int fd);

}  // namespace gangrun::feed
