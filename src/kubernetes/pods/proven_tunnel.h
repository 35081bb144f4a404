#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "kubernetes/client.h"
#include "kubernetes/link_frames.h"
#include "kubernetes/proof.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::pods {

// The client's end of a stream to a port of a pod's 127.0.0.1: a proof (kubernetes/proof.h), then
// frames.
class ProvenTunnel {
 public:
  struct Target {
    std::string name_space;
    std::string pod;
    std::uint16_t port = 0;
  };
  // None of these may destroy the stream but on_over, which comes once, later, and is the last.
  struct Callbacks {
    std::function<void()> on_proven;
    std::function<void(const LinkFrame&)> on_frame;
    std::function<void(const base::Error&)> on_over;
  };

  // Until `deadline` the proof must be done.
  ProvenTunnel(net::EventLoop& loop, kubernetes::Client& client, const Target& target, Proof proof,
               base::Instant deadline, Callbacks callbacks);
  ProvenTunnel(const ProvenTunnel&) = delete;
  ProvenTunnel& operator=(const ProvenTunnel&) = delete;

  // Once it is proven. Nothing happens where it is over.
  void send(const LinkFrame& frame);
  [[nodiscard]] std::size_t queued_bytes() const { return tunnel_->queued_bytes(); }
  // Ends it, as if it had broken: on_over comes with this.
  void end(base::Error why);

 private:
  void take(std::string_view bytes);
  void take_frames(std::string_view bytes);

  net::EventLoop& loop_;
  const Callbacks callbacks_;
  Proof proof_;
  LinkReader frames_;
  bool is_over_ = false;
  net::Timer limit_;
  net::Timer over_;
  std::unique_ptr<kubernetes::Tunnel> tunnel_;
};

}  // namespace gangrun::kubernetes::pods
