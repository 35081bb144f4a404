#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"
#include "job/cluster_spec.h"
#include "kubernetes/client.h"
#include "kubernetes/link_frames.h"
#include "kubernetes/pods/proven_tunnel.h"
#include "net/event_loop.h"
#include "net/relay.h"

namespace gangrun::kubernetes::pods {

// How often the relay has to give a sign of life, and how long it may be silent.
inline constexpr base::Duration kRelayPing = base::seconds(3);
inline constexpr base::Duration kRelaySilence = base::seconds(9);
// Between two tries while nobody listens there yet (try_pause.h).
inline constexpr base::Duration kRelayTryPause = base::milliseconds(50);

// The client's side of a job's relay (`gangrun-pod-agent relay`, kubernetes/node): a forwarded
// port, by which the agents' connections come to the master on this machine. It is opened again
// where it breaks.
class RelayLink {
 public:
  struct Options {
    std::string name_space;
    std::uint16_t client_port = 0;  // of the relay's 127.0.0.1
    base::Secret token;
    std::uint16_t master_port = 0;  // of 127.0.0.1 here
  };
  struct Callbacks {
    // Agents connect there from now on, and wait until open(). May not call begin(), nor destroy
    // the link.
    std::function<void(const job::Address& address)> on_up;
    // The stream has broken, and all connections with it; it is tried again.
    std::function<void(const base::Error& why)> on_down;
    // It was tried for as long as it may be, or is refused for good; nothing follows but begin().
    std::function<void(const base::Error& why)> on_given_up;
  };

  RelayLink(net::EventLoop& loop, kubernetes::Client& client, Options options, Callbacks callbacks);
  RelayLink(const RelayLink&) = delete;
  RelayLink& operator=(const RelayLink&) = delete;
  ~RelayLink();

  // The relay is in this pod, which has a node. Each time that the stream is to be opened, it is
  // tried for so long. Where there was another pod, its connections break, and nothing is told.
  void begin(std::string pod, base::Duration patience);
  // Agents reach the master from now on. Before, they wait at the relay, and it is known only where
  // that is.
  void open();
  [[nodiscard]] bool is_up() const { return relay_ != nullptr; }

 private:
  void try_once();
  void on_frame(const LinkFrame& frame);
  void on_here(const HereFrame& frame);
  void on_relay_frame(const net::RelayFrame& frame);
  void look_at_queue();
  void beat();
  void on_over(const base::Error& why);

  net::EventLoop& loop_;
  kubernetes::Client& client_;
  const Options options_;
  const Callbacks callbacks_;
  bool is_open_ = false;
  std::string pod_;
  base::Duration patience_{};
  base::Instant tried_since_;
  net::Timer timer_;  // of the next try, or of the next sign of life
  net::Timer queue_timer_;
  base::Instant heard_at_;
  base::Instant ping_at_;
  std::unique_ptr<ProvenTunnel> tunnel_;
  std::unique_ptr<net::Relay> relay_;  // as long as it is up
};

}  // namespace gangrun::kubernetes::pods
