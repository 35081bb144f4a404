#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/http.h"

namespace gangrun::net {

inline constexpr std::size_t kMaxMessageBytes = std::size_t{16} * 1024 * 1024;
inline constexpr std::size_t kMaxQueuedBytes = std::size_t{64} * 1024 * 1024;
// The bytes that a message in the queue takes beside its text.
inline constexpr std::size_t kMessageOverheadBytes = 64;
// How long a closing channel may take to write what is queued and to hear the other side's
// farewell.
inline constexpr base::Duration kCloseTimeout = base::seconds(5);

struct ChannelOptions {
  std::size_t max_message_bytes = kMaxMessageBytes;
  // Each message counts for kMessageOverheadBytes more than it has.
  std::size_t max_queued_bytes = kMaxQueuedBytes;
  // Closed when nothing was heard for so long; asked for a sign of life after half of it.
  base::Duration idle_timeout = base::seconds(60);
  // Messages are any bytes (RFC 6455's binary ones) instead of text. Both sides must say so.
  bool is_binary = false;
};

// One WebSocket connection, of a server or a client: whole messages in order, both ways.
// Destroying it says farewell: callbacks end at once, messages already queued are still written
// within kCloseTimeout if the loop goes on.
class Channel {
 public:
  class State;

  explicit Channel(std::shared_ptr<State> state);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  // Messages are read from the moment this is set, so none is lost. The view is valid during the
  // call. Set on_closed before it.
  void on_message(std::function<void(std::string_view)> callback);

  // Called exactly once when the channel has ended, whoever ended it, never inside another call of
  // this class. kUnavailable: the other side closed it or vanished; kDeadlineExceeded: silent for
  // the idle timeout; kResourceExhausted: a message or the queue was too large; kPermissionDenied:
  // the other side refuses us; kCancelled: close() of our own.
  void on_closed(std::function<void(base::Error reason)> callback);

  // Queues one message (UTF-8, or bytes where the channel is binary). More than max_queued_bytes in
  // the queue ends the channel. Nothing happens on an ended one.
  void send(std::string message);
  // The same for one that goes to many: it is not copied.
  void send(std::shared_ptr<const std::string> message);

  // Ends the channel after the queued messages; `reason` is told to the other side (its first 120
  // bytes). kPermissionDenied and kResourceExhausted arrive there as such, all else as
  // kUnavailable.
  void close(std::string_view reason, base::Code code = base::Code::kUnavailable);

  // The other side's words when it closed the channel; none: it has not, or said nothing.
  [[nodiscard]] std::optional<std::string> farewell() const;

  // Bytes that wait to be written, and kMessageOverheadBytes for each message that does.
  [[nodiscard]] std::size_t queued_bytes() const;
  [[nodiscard]] const Peer& peer() const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace gangrun::net
