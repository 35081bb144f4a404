#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "ssh/frames.h"

namespace gangrun::ssh {

// The most that one host may have at a time: of each agent there is one, and a few more while
// somebody looks at its tasks.
inline constexpr std::size_t kMaxStreams = 2048;

// Connections of a host's agents to their master, carried as frames. Each has no more on its way
// than its LinkWindow allows: the heartbeats of all others wait behind it. The keeper has one with
// a socket at which agents connect, the client one that connects to the master's.
class Relay {
 public:
  // `send` takes what the other side is to get. It is called from the loop, and must not call back.
  Relay(net::EventLoop& loop, std::function<void(const Frame&)> send);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay();

  // The keeper's side. A socket that only this user can connect to; one that is there already is
  // replaced. Once.
  base::Result<> listen(const std::string& path);
  // The client's side: where a connection that the other side opens goes. Where it cannot be made
  // the other side's breaks.
  void connect_to(std::string path) { target_ = std::move(path); }

  void on_frame(const OpenFrame& frame);
  void on_frame(const StreamFrame& frame);

  // The other side has gone: all connections break.
  void break_all();

 private:
  struct Stream;

  void accept_from_now_on();
  void accept();
  void add(std::uint32_t id, base::UniqueFd socket);
  [[nodiscard]] static std::size_t may_send(const Stream& stream);
  void read_on(std::uint32_t id);
  void read(std::uint32_t id);
  void write(std::uint32_t id);
  void tell_taken(std::uint32_t id, std::size_t bytes);
  void look_for_end(std::uint32_t id);
  void break_off(std::uint32_t id);
  void drop(std::uint32_t id);

  net::EventLoop& loop_;
  std::function<void(const Frame&)> send_;
  std::string target_;
  base::UniqueFd listener_;
  net::Watch accept_watch_;
  net::Timer accept_pause_;
  std::uint32_t next_ = 1;
  std::map<std::uint32_t, std::unique_ptr<Stream>> streams_;
};

}  // namespace gangrun::ssh
