#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "net/relay_frames.h"

namespace gangrun::net {

// The most connections that one relay carries at a time, where its owner gives no other number: of
// each agent of a host there is one, and a few more while somebody looks at its tasks.
inline constexpr std::size_t kMaxStreams = 2048;

// Connections of agents to their master, carried as frames over one channel. Each has no more on
// its way than its LinkWindow allows: the heartbeats of all others wait behind it. The side of the
// agents takes what connects there, the master's side connects to the master for each.
class Relay {
 public:
  using Connector = std::function<base::Result<base::UniqueFd>()>;

  // `send` takes what the other side is to get. It is called from the loop, and must not call back
  // but for hold().
  Relay(EventLoop& loop, std::function<void(const RelayFrame&)> send,
        std::size_t max_streams = kMaxStreams);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay();

  // The agents' side: a connection that has come, as a socket that does not block. One too many is
  // closed.
  void take(base::UniqueFd socket);
  // The master's side: makes a socket for each connection that the other side opens, which may not
  // be connected yet. Where it cannot be made the other side's breaks.
  void connect_to(Connector connect) { connect_ = std::move(connect); }

  void on_frame(const OpenFrame& frame);
  void on_frame(const StreamFrame& frame);

  // Nothing more is read from connections as long as it is held: the channel has enough to do.
  void hold(bool is_held);

  // The other side has gone: all connections break.
  void break_all();

 private:
  struct Stream;

  void add(std::uint32_t id, base::UniqueFd socket);
  [[nodiscard]] static std::size_t may_send(const Stream& stream);
  void read_on(std::uint32_t id);
  void read(std::uint32_t id);
  void write(std::uint32_t id);
  void tell_taken(std::uint32_t id, std::size_t bytes);
  void look_for_end(std::uint32_t id);
  void break_off(std::uint32_t id);
  void drop(std::uint32_t id);

  EventLoop& loop_;
  std::function<void(const RelayFrame&)> send_;
  const std::size_t max_streams_;
  Connector connect_;
  bool is_held_ = false;
  std::set<std::uint32_t> held_back_;  // streams that have something to be read meanwhile
  std::uint32_t next_ = 1;
  std::map<std::uint32_t, std::unique_ptr<Stream>> streams_;
};

}  // namespace gangrun::net
