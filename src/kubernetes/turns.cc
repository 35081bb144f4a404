#include "kubernetes/turns.h"

#include <deque>
#include <utility>

namespace gangrun::kubernetes {

struct Turns::State {
  net::EventLoop& loop;
  const int at_once;
  int taken = 0;
  std::deque<std::weak_ptr<Waiter>> queue;
  net::Timer wake;

  void wake_soon();
  void give();
};

struct Turns::Waiter {
  std::weak_ptr<State> state;
  std::function<void()> on_turn;
  bool has_turn = false;

  Waiter(std::weak_ptr<State> of, std::function<void()> callback)
      : state(std::move(of)), on_turn(std::move(callback)) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  ~Waiter() {
    const auto turns = state.lock();
    if (!has_turn || turns == nullptr) return;
    --turns->taken;
    turns->wake_soon();
  }
};

void Turns::State::wake_soon() {
  if (!queue.empty() && !wake.pending()) {
    wake = loop.after(base::Duration(0), [this] { give(); });
  }
}

void Turns::State::give() {
  while (taken < at_once && !queue.empty()) {
    const std::shared_ptr<Waiter> next = queue.front().lock();
    queue.pop_front();
    if (next == nullptr) continue;
    next->has_turn = true;
    ++taken;
    // Any callback may be the end of these turns: the others come one by one.
    wake_soon();
    const auto on_turn = std::move(next->on_turn);
    return on_turn();
  }
}

Turns::Turns(net::EventLoop& loop, int at_once)
    : state_(std::make_shared<State>(State{loop, at_once, 0, {}, {}})) {}

Turns::~Turns() = default;

Turns::Turn Turns::take(std::function<void()> on_turn) {
  auto waiter = std::make_shared<Waiter>(state_, std::move(on_turn));
  state_->queue.push_back(waiter);
  state_->wake_soon();
  return waiter;
}

}  // namespace gangrun::kubernetes
