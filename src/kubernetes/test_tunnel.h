#pragma once

#include <string>
#include <string_view>

#include "kubernetes/client.h"

namespace gangrun::kubernetes {

// The far end of a tunnel to a pod, in the hands of a test. It outlives the tunnel.
struct TestPod {
  TunnelCallbacks callbacks;
  std::string sent;  // to the pod
  std::size_t queued_bytes = 0;
  bool is_closed = false;

  // The real ones hold what they call for as long as the call goes on, too.
  void open() const { TunnelCallbacks(callbacks).on_open(); }
  void say(std::string_view bytes) const { TunnelCallbacks(callbacks).on_bytes(bytes); }
  void end(const base::Result<>& how) const { TunnelCallbacks(callbacks).on_end(how); }
};

class TestTunnel final : public Tunnel {
 public:
  TestTunnel(TestPod& pod, TunnelCallbacks callbacks) : pod_(pod) {
    pod_.callbacks = std::move(callbacks);
  }
  TestTunnel(const TestTunnel&) = delete;
  TestTunnel& operator=(const TestTunnel&) = delete;
  ~TestTunnel() override { pod_.is_closed = true; }

  void send(std::string_view bytes) override { pod_.sent += bytes; }
  [[nodiscard]] std::size_t queued_bytes() const override { return pod_.queued_bytes; }

 private:
  TestPod& pod_;
};

}  // namespace gangrun::kubernetes
