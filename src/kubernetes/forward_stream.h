#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kubernetes/client.h"
#include "kubernetes/core.h"
#include "kubernetes/frames.h"
#include "kubernetes/opening.h"

namespace gangrun::kubernetes {

// Client::forward().
class ForwardStream final : public Tunnel {
 public:
  ForwardStream(Core& core, const std::string& name_space, const std::string& pod,
                std::uint16_t port, base::Instant deadline, TunnelCallbacks callbacks);

  void send(std::string_view bytes) override;
  [[nodiscard]] std::size_t queued_bytes() const override;

 private:
  void on_channel(Opening::Result channel);
  void on_message(std::string_view message);
  void on_open();
  void on_closed(const base::Error& reason);
  void end(base::Result<> result);

  const std::shared_ptr<const TunnelCallbacks> callbacks_;
  PortFrames frames_;
  bool is_open_ = false;
  bool has_ended_ = false;
  std::string queued_;  // until it is open
  net::Timer limit_;
  std::optional<Opening> opening_;
  std::unique_ptr<net::Channel> channel_;
};

}  // namespace gangrun::kubernetes
