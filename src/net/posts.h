#pragma once

#include <functional>
#include <utility>

#include "net/alive.h"
#include "net/event_loop.h"

namespace gangrun::net {

// Work that an object posts to the loop, and that is dropped if the object is gone by then: a
// member of it, above those that post when they go.
class Posts {
 public:
  explicit Posts(EventLoop& loop) : loop_(loop) {}
  Posts(const Posts&) = delete;
  Posts& operator=(const Posts&) = delete;
  ~Posts() = default;

  // From any thread that ends before this does.
  void post(std::function<void()> work) const { loop_.post(while_alive(life_, std::move(work))); }

 private:
  EventLoop& loop_;
  const Life life_;
};

// The events of an object, each told to its listener by the loop: in their order, never from inside
// a call, and no more when the object is gone.
template <typename Event>
class Outbox {
 public:
  explicit Outbox(EventLoop& loop) : posts_(loop) {}

  void on_event(std::function<void(Event)> listener) { listener_ = std::move(listener); }
  void post(std::function<void()> work) const { posts_.post(std::move(work)); }
  void tell(Event event) {
    posts_.post([this, event = std::move(event)] {
      if (listener_) listener_(event);
    });
  }

 private:
  std::function<void(Event)> listener_;
  Posts posts_;
};

}  // namespace gangrun::net
