#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::process {

// One message between two processes of this machine.
struct Packet {
  std::string text;
  std::vector<base::UniqueFd> fds;
  // Sending: a process that the message is about, by its number here; 0: this one. Receiving: the
  // same process by its number in the receiver's PID namespace; 0 where that does not see it.
  pid_t pid = 0;
};

// The limits of one packet.
inline constexpr std::size_t kMaxPacketBytes = std::size_t{64} << 10U;
inline constexpr std::size_t kMaxPacketFds = 128;
// The most bytes of all packets that wait to be sent: the orders for the tasks of the largest job,
// and more.
inline constexpr std::size_t kMaxWaitingBytes = std::size_t{32} << 20U;
// When the kernel had no room for a packet it may have some, and no descriptor tells.
inline constexpr std::chrono::milliseconds kTryAgain(10);

// A Unix socket of the type SOCK_SEQPACKET that never blocks: what cannot be sent yet waits here.
class PacketSocket {
 public:
  explicit PacketSocket(base::UniqueFd fd);

  // The two ends of a connection.
  static base::Result<std::pair<base::UniqueFd, base::UniqueFd>> pair();

  // A socket that listens at `path`, of any length; what was there is gone. Only this user may
  // connect.
  static base::Result<base::UniqueFd> listen(const std::string& path, int most_waiting);
  // A connection to what listens at `path`.
  static base::Result<base::UniqueFd> connect(const std::string& path);

  [[nodiscard]] int fd() const { return fd_.get(); }
  // The events for which packets wait: then call flush().
  enum class Waiting {
    kNothing,  // none waits
    kUntilWritable,
    kForAMoment,  // kTryAgain
  };
  [[nodiscard]] Waiting waiting() const { return waits_for_; }

  // kInvalidArgument where it is over a limit, kResourceExhausted where too many wait; else it is
  // sent, now or by flush(). An error of flush(), or another one, means that this packet or an
  // earlier one can never be sent. receive() tells that the peer is gone.
  base::Result<> send(Packet packet);
  base::Result<> flush();
  // The next packet; none where there is none yet; kUnavailable once the peer is gone.
  base::Result<std::optional<Packet>> receive();

 private:
  base::UniqueFd fd_;
  std::deque<Packet> waiting_;
  std::size_t waiting_bytes_ = 0;
  Waiting waits_for_ = Waiting::kNothing;
};

}  // namespace gangrun::process
