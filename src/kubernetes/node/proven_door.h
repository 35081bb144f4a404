#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "kubernetes/node/proven_stream.h"
#include "net/event_loop.h"
#include "net/socket_listener.h"

namespace gangrun::kubernetes::node {

// Those who have connected and have shown nothing yet. One more takes the place of the oldest.
inline constexpr std::size_t kMaxUnproven = 8;
inline constexpr base::Duration kProofLimit = base::seconds(5);

// A port of this pod's 127.0.0.1, for who knows the secret. Others are there for a short time only,
// and few at once.
class ProvenDoor {
 public:
  // `on_proven` gets each stream when its proof is done, and gives it callbacks of its own before
  // it returns.
  ProvenDoor(net::EventLoop& loop, base::Logger& logger, base::Secret secret,
             std::string_view greeting,
             std::function<void(std::unique_ptr<ProvenStream>)> on_proven);
  ProvenDoor(const ProvenDoor&) = delete;
  ProvenDoor& operator=(const ProvenDoor&) = delete;

  // 0: any port. The port.
  base::Result<std::uint16_t> listen(std::uint16_t port) {
    return listener_.listen_at_loopback(port);
  }

 private:
  struct Unproven {
    std::unique_ptr<ProvenStream> stream;
    net::Timer limit;
  };
  using Place = std::list<Unproven>::iterator;

  void on_connection(base::UniqueFd socket);
  void on_proven(Place place);
  void on_over(Place place, const base::Error& why);

  net::EventLoop& loop_;
  base::Logger& logger_;
  const base::Secret secret_;
  const std::string_view greeting_;
  const std::function<void(std::unique_ptr<ProvenStream>)> on_proven_;
  std::list<Unproven> unproven_;  // oldest first
  net::SocketListener listener_;
};

}  // namespace gangrun::kubernetes::node
