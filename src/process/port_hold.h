#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::process {

// Holds a TCP port for a task from before its number is published until the task binds it.
//
// It is a bound socket that does not listen, with SO_REUSEADDR and SO_REUSEPORT. So the kernel
// gives the number to nobody who asks for any port, nor for an outgoing connection; a program that
// binds this very number takes it over if it sets either option (servers do), and is refused
// if it sets none. Taking over by SO_REUSEPORT needs the same user. The hold does not end by being
// taken over, and does no harm then.
class PortHold {
 public:
  // A port that the kernel chooses, on a numeric address: "0.0.0.0", "127.0.0.1", "::" (which also
  // holds the number for IPv4).
  static base::Result<PortHold> any(const std::string& address);

  // The very port, for a task that comes back at its old address. kUnavailable says who has it:
  // also a listener that would share it with us, as a task's own earlier process would.
  static base::Result<PortHold> exactly(const std::string& address, std::uint16_t port);

  // To be inherited by the task; stays ours.
  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  // Lets go of the port (unless a task inherited the socket).
  void release() { socket_.reset(); }

 private:
  PortHold(base::UniqueFd socket, std::uint16_t port) : socket_(std::move(socket)), port_(port) {}

  base::UniqueFd socket_;
  std::uint16_t port_;
};

}  // namespace gangrun::process
