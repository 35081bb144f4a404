#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace gangrun::net {

// The most that one side of a tunnel has under way: sent, and not taken over there yet.
inline constexpr std::size_t kTunnelWindowBytes = std::size_t{256} * 1024;
// The limit for the bytes in one message.
inline constexpr std::size_t kMaxTunnelDataBytes = std::size_t{32} * 1024;
inline constexpr std::size_t kMaxTunnelMessageBytes = kMaxTunnelDataBytes + 1;
// Less is told as taken only when nothing else is to come, or nothing more may.
inline constexpr std::size_t kTellTakenBytes = kTunnelWindowBytes / 4;

// A message of the other side.
struct TunnelOpened {};
struct TunnelData {
  std::string_view bytes;  // of the message
};
struct TunnelEnd {};
struct TunnelTaken {};
using TunnelMessage = std::variant<TunnelOpened, TunnelData, TunnelEnd, TunnelTaken>;

// One side of a connection that is carried by messages (docs/protocols/registry.md, "Tunnels"): the
// messages, and how much may be sent. No socket, no clock.
class TunnelFlow {
 public:
  // `tell_taken`: in place of kTellTakenBytes, for who has less under way.
  explicit TunnelFlow(std::size_t tell_taken = kTellTakenBytes) : tell_taken_(tell_taken) {}

  // How many bytes data() may have now.
  [[nodiscard]] std::size_t may_send() const;
  // Sent, and not known to be taken by the other side.
  [[nodiscard]] std::size_t on_the_way() const { return on_the_way_; }
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  [[nodiscard]] bool other_has_ended() const { return other_has_ended_; }

  // Messages for the other side. None follows end() but those of taken().
  [[nodiscard]] static std::string opened();
  std::string data(std::string_view bytes);
  std::string end();
  // So many of the other side's bytes have been passed on. None: it is told later.
  std::optional<std::string> taken(std::size_t bytes);

  // Takes a message of the other side; its error ends the tunnel.
  base::Result<TunnelMessage> on_message(std::string_view message);

 private:
  base::Result<TunnelMessage> on_data(std::string_view bytes);
  base::Result<TunnelMessage> on_taken(std::string_view number);

  std::size_t tell_taken_;
  std::size_t on_the_way_ = 0;
  std::size_t arrived_ = 0;    // and not told as taken
  std::size_t passed_on_ = 0;  // of those
  bool has_ended_ = false;
  bool other_has_ended_ = false;
};

}  // namespace gangrun::net
