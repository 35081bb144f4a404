#pragma once

#include <sys/types.h>

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
  // Whether packets wait until fd() is writable: then call flush().
  [[nodiscard]] bool has_waiting() const { return !waiting_.empty(); }

  // kInvalidArgument where it is over a limit; else it is sent, now or by flush(). That the peer is
  // gone is told by receive().
  base::Result<> send(Packet packet);
  void flush();
  // The next packet; none where there is none yet; kUnavailable once the peer is gone.
  base::Result<std::optional<Packet>> receive();

 private:
  base::UniqueFd fd_;
  std::deque<Packet> waiting_;
};

}  // namespace gangrun::process
