#pragma once

#include <functional>
#include <memory>

#include "net/event_loop.h"

namespace gangrun::kubernetes {

// Lets no more than so many do something at once; the others wait in a queue.
class Turns {
 public:
  struct State;
  struct Waiter;

  // A place in the queue, then the turn itself. Whoever lets go of it leaves, or lets the next one
  // go.
  using Turn = std::shared_ptr<Waiter>;

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
