#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/unique_fd.h"
#include "kubernetes/link_frames.h"
#include "kubernetes/node/proven_door.h"
#include "kubernetes/node/proven_stream.h"
#include "net/event_loop.h"
#include "net/relay.h"
#include "net/socket_listener.h"

namespace gangrun::kubernetes::node {

// Agents that are here before the client wants them: so many, and for so long each.
inline constexpr std::size_t kMaxHeld = 4096;
inline constexpr base::Duration kHeldLimit = base::seconds(10);
// A client asks for a sign of life every 3 s. One that is silent for longer than this has gone.
inline constexpr base::Duration kClientSilence = base::seconds(20);

// Carries agents' connections to the one client that has proved itself, whose master they want.
// What they say is between them and the master (TLS).
class RelayServer {
 public:
  // `host`: the pod's own address.
  RelayServer(net::EventLoop& loop, base::Logger& logger, base::Secret token, std::string host);
  RelayServer(const RelayServer&) = delete;
  RelayServer& operator=(const RelayServer&) = delete;
  ~RelayServer();

  struct Ports {
    std::uint16_t agents = 0;  // at all addresses
    std::uint16_t client = 0;  // of 127.0.0.1
  };
  // 0: any port. The ports.
  base::Result<Ports> listen(Ports wanted);

 private:
  struct Held {
    base::UniqueFd socket;
    base::Instant until;
  };

  void on_agent(base::UniqueFd socket);
  void close_held();
  void on_client(std::unique_ptr<ProvenStream> client);
  void carry();
  void on_frame(const LinkFrame& frame);
  void on_relay_frame(const net::RelayFrame& frame);
  void look_for_silence();
  void lose_client(const base::Error& why);

  net::EventLoop& loop_;
  base::Logger& logger_;
  const std::string host_;
  std::uint16_t agents_port_ = 0;
  std::deque<Held> held_;  // oldest first
  net::Timer held_timer_;
  base::Instant heard_at_;  // of the client
  net::Timer silence_timer_;
  std::unique_ptr<ProvenStream> client_;
  std::unique_ptr<net::Relay> relay_;  // as long as there is a client that wants connections
  net::SocketListener agents_;
  ProvenDoor door_;
};

}  // namespace gangrun::kubernetes::node
