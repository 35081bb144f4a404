#pragma once

#include <memory>
#include <utility>

namespace gangrun::net {

// Holds something that goes on, which end(State&) ends. Destroying or resetting the handle does so.
// Empty when default-made or moved from.
template <typename State>
class Handle {
 public:
  Handle() = default;
  explicit Handle(std::shared_ptr<State> state) : state_(std::move(state)) {}
  Handle(Handle&&) noexcept = default;
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      state_ = std::move(other.state_);
    }
    return *this;
  }
  ~Handle() { reset(); }

  void reset() {
    if (const auto state = std::exchange(state_, nullptr)) end(*state);
  }
  [[nodiscard]] bool active() const { return state_ != nullptr; }

 protected:
  std::shared_ptr<State> state_;
};

}  // namespace gangrun::net
