#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "net/event_loop.h"

namespace gangrun::kubernetes {

// Lets no more than so many do something at once; the others wait in a queue.
class Turns {
 public:
  struct State;
  struct Place;

  // A place in the queue, then the turn itself. Destroying it leaves, or lets the next one go.
  class Turn {
   public:
    Turn() = default;
    explicit Turn(std::shared_ptr<Place> place) : place_(std::move(place)) {}
    void reset() { place_.reset(); }

   private:
    std::shared_ptr<Place> place_;
  };

  Turns(net::EventLoop& loop, int at_once);
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;
  ~Turns();

  // `on_turn` comes later, never inside this call.
  [[nodiscard]] Turn take(std::function<void()> on_turn);

 private:
  std::shared_ptr<State> state_;
};

}  // namespace gangrun::kubernetes
