#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

// The ports of one task, held on all addresses of its host, IPv4's and IPv6's: which of them its
// program binds is its own affair. All different.
class PortHolds {
 public:
  // `count` ports, at least one; the first is `wanted` where that can be held.
  static base::Result<PortHolds> take(int count, std::optional<std::uint16_t> wanted);
  // As many others.
  [[nodiscard]] base::Result<PortHolds> others() const;

  [[nodiscard]] const std::vector<std::uint16_t>& numbers() const { return numbers_; }
  // To be inherited, in the order of the numbers; they stay ours. Empty while nothing is held.
  [[nodiscard]] std::vector<int> fds() const;
  // Why the wanted port is not the first one; empty: it is, or none was wanted.
  [[nodiscard]] const std::string& not_wanted_because() const { return not_wanted_because_; }

  // Lets go of all, so that programs can bind them that set no option; the numbers stay known.
  void release() { holds_.clear(); }
  // The very same again after release(). On an error none is held.
  base::Result<> hold_again();

 private:
  PortHolds() = default;

  std::vector<PortHold> holds_;
  std::vector<std::uint16_t> numbers_;
  std::string not_wanted_because_;
};

}  // namespace gangrun::process
