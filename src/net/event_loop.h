#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/handle.h"

namespace gangrun::net {

struct TimerState;
void end(TimerState& state);
// A callback that is due at one instant. Destroying or resetting it cancels: afterwards the
// callback neither runs nor is it kept.
class Timer : public Handle<TimerState> {
 public:
  using Handle::Handle;
  // Whether the callback is still to come.
  [[nodiscard]] bool pending() const;
};

struct WatchState;
void end(WatchState& state);
// A callback for each time that a descriptor is ready. Destroying or resetting it ends that at
// once, also from inside the callback.
using Watch = Handle<WatchState>;

// The one loop of a program: all state belongs to the thread that calls run(). Only post() and
// stop() may be called from other threads. Everything made from a loop must go before the loop
// does. Callbacks may make and destroy timers, watches, channels and servers; they must not throw.
class EventLoop {
 public:
  using Timer = net::Timer;
  using Watch = net::Watch;
  struct Impl;

  EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  ~EventLoop();

  [[nodiscard]] base::Instant now() const { return std::chrono::steady_clock::now(); }

  // Runs `task` in the loop, never inside post(). Tasks of one thread run in the order posted.
  void post(std::function<void()> task);

  [[nodiscard]] Timer at(base::Instant when, std::function<void()> callback);
  [[nodiscard]] Timer after(base::Duration delay, std::function<void()> callback);

  // Calls back again and again while `fd` is readable (also at its end and on its errors), or
  // writable. Does not own `fd`: destroy the watch before closing the descriptor. One descriptor
  // may have several watches. A regular file is always ready.
  [[nodiscard]] Watch watch_readable(int fd, std::function<void()> callback);
  [[nodiscard]] Watch watch_writable(int fd, std::function<void()> callback);

  // Blocks `signals` in the calling thread, for good, and calls back for each one that arrives.
  // Call it before the first other thread starts, so that all threads inherit the blocking; a child
  // process must unblock them before it executes a program.
  base::Result<Watch> watch_signals(const std::vector<int>& signals,
                                    std::function<void(int signal)> callback);

  // Runs callbacks until stop(). A stop() that came before makes it return at once.
  void run();
  void stop();

  // Runs callbacks until `done` is true (checked before each callback), or `deadline`, or stop().
  // Returns the last value of `done`.
  bool run_until(const std::function<bool()>& done, base::Instant deadline);

  // For the other files of this room.
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  Watch watch(int fd, bool readable, std::function<void()> callback);

  std::unique_ptr<Impl> impl_;
};

}  // namespace gangrun::net
