#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kubernetes/client.h"

namespace gangrun::kubernetes {

// A client for tests whose server never answers. A test overrides what it asks for.
class IdleClient : public Client {
 public:
  explicit IdleClient(std::string name_space = "") { access_.name_space = std::move(name_space); }

  [[nodiscard]] const Access& access() const override { return access_; }
  [[nodiscard]] ActivityHandle request(Request, base::Instant,
                                       std::function<void(ApiAnswer)>) override {
    return nullptr;
  }
  [[nodiscard]] ActivityHandle watch(WatchRequest, WatchCallbacks) override { return nullptr; }
  [[nodiscard]] ActivityHandle read_log(LogRequest, LogCallbacks) override { return nullptr; }
  [[nodiscard]] ActivityHandle exec(ExecRequest, base::Instant, ExecCallbacks) override {
    return nullptr;
  }
  [[nodiscard]] std::unique_ptr<Tunnel> forward(std::string, std::string, std::uint16_t,
                                                base::Instant, TunnelCallbacks) override {
    return nullptr;
  }

 private:
  Access access_;
};

}  // namespace gangrun::kubernetes
