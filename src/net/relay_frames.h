#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

// The frames with which connections are carried over one channel (relay.h). Who has the channel
// gives them their bytes, among frames of his own.
namespace gangrun::net {

// A connection begins; the side at which it has come gives the number.
struct OpenFrame {
  std::uint32_t stream = 0;
};

// The bytes of TunnelFlow for one of these connections; empty: it has broken.
struct StreamFrame {
  std::uint32_t stream = 0;
  std::string_view content;
};

using RelayFrame = std::variant<OpenFrame, StreamFrame>;

}  // namespace gangrun::net
