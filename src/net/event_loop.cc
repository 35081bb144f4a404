#include "net/event_loop.h"

#include "net/asio_internal.h"
//
#include <sys/signalfd.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <csignal>
#include <unordered_map>

#include "base/check.h"
#include "base/unique_fd.h"
#include "net/event_loop_internal.h"

namespace gangrun::net {

namespace {

using Executor = asio::io_context::executor_type;
using SteadyTimer =
    asio::basic_waitable_timer<std::chrono::steady_clock,
                               asio::wait_traits<std::chrono::steady_clock>, Executor>;
using Descriptor = asio::posix::basic_stream_descriptor<Executor>;

}  // namespace

// All watches of one descriptor: the kernel takes a descriptor into an epoll set only once.
struct SharedDescriptor {
  SharedDescriptor(EventLoop::Impl& owner_loop, int fd);
  ~SharedDescriptor();

  EventLoop::Impl& loop;
  const int number;
  Descriptor descriptor;
};

struct EventLoop::Impl {
  std::unordered_map<int, std::weak_ptr<SharedDescriptor>> descriptors;  // outlives the context
  asio::io_context context{1};
  asio::executor_work_guard<Executor> work{context.get_executor()};
  std::atomic<bool> stop_requested = false;
};

SharedDescriptor::SharedDescriptor(EventLoop::Impl& owner_loop, int fd)
    : loop(owner_loop), number(fd), descriptor(owner_loop.context) {
  ErrorCode error;
  descriptor.assign(fd, error);
  GANGRUN_CHECK(!error, fd, error.message());
}

SharedDescriptor::~SharedDescriptor() {
  descriptor.release();
  loop.descriptors.erase(number);
}

asio::io_context& context_of(EventLoop& loop) { return loop.impl().context; }

struct TimerState {
  TimerState(asio::io_context& context, std::function<void()> function)
      : timer(context), callback(std::move(function)) {}

  SteadyTimer timer;
  std::function<void()> callback;
};

void end(TimerState& state) {
  // Moved out first: destroying what the callback holds may come back to this timer's owner.
  const auto callback = std::exchange(state.callback, nullptr);
  state.timer.cancel();
}

bool Timer::pending() const { return state_ != nullptr && state_->callback != nullptr; }

struct WatchState : std::enable_shared_from_this<WatchState> {
  void arm();
  void ready(const ErrorCode& error);

  base::UniqueFd owned;  // closed after the descriptor is released
  std::shared_ptr<SharedDescriptor> descriptor;
  bool readable = true;
  bool alive = true;
  std::function<void()> callback;
};

void WatchState::arm() {
  descriptor->descriptor.async_wait(
      readable ? Descriptor::wait_read : Descriptor::wait_write,
      [self = shared_from_this()](const ErrorCode& error) { self->ready(error); });
}

void WatchState::ready(const ErrorCode& error) {
  if (!alive) return;
  // Aborted is meant for another watch of the same descriptor; not supported is a regular file,
  // which is always ready.
  if (error != asio::error::operation_aborted) {
    const auto function = std::exchange(callback, nullptr);
    function();
    if (!alive) return;
    callback = function;
  }
  arm();
}

void end(WatchState& state) {
  state.alive = false;
  const auto callback = std::exchange(state.callback, nullptr);
  ErrorCode ignored;
  state.descriptor->descriptor.cancel(ignored);
  // The descriptor leaves the epoll set now, not when the cancelled wait has been delivered: the
  // caller may close its number next.
  state.descriptor.reset();
}

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}
EventLoop::~EventLoop() = default;

void EventLoop::post(std::function<void()> task) { asio::post(impl_->context, std::move(task)); }

Timer EventLoop::at(base::Instant when, std::function<void()> callback) {
  auto state = std::make_shared<TimerState>(impl_->context, std::move(callback));
  state->timer.expires_at(when);
  state->timer.async_wait([state](const ErrorCode&) {
    // Empty when it was cancelled, however late.
    const auto function = std::exchange(state->callback, nullptr);
    if (function) function();
  });
  return Timer(std::move(state));
}

Timer EventLoop::after(base::Duration delay, std::function<void()> callback) {
  return at(now() + delay, std::move(callback));
}

Watch EventLoop::watch(int fd, bool readable, std::function<void()> callback) {
  std::weak_ptr<SharedDescriptor>& known = impl_->descriptors[fd];
  auto descriptor = known.lock();
  if (descriptor == nullptr) {
    descriptor = std::make_shared<SharedDescriptor>(*impl_, fd);
    known = descriptor;
  }
  auto state = std::make_shared<WatchState>();
  state->descriptor = std::move(descriptor);
  state->readable = readable;
  state->callback = std::move(callback);
  state->arm();
  return Watch(std::move(state));
}

Watch EventLoop::watch_readable(int fd, std::function<void()> callback) {
  return watch(fd, true, std::move(callback));
}

Watch EventLoop::watch_writable(int fd, std::function<void()> callback) {
  return watch(fd, false, std::move(callback));
}

base::Result<Watch> EventLoop::watch_signals(const std::vector<int>& signals,
                                             std::function<void(int)> callback) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  if (const int error = pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0) {
    return base::from_errno(error, "block signals");
  }
  base::UniqueFd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return base::from_errno(errno, "watch signals");
  const int number = fd.get();
  auto state = std::make_shared<WatchState>();
  state->owned = std::move(fd);
  state->descriptor = std::make_shared<SharedDescriptor>(*impl_, number);
  state->callback = [number, callback = std::move(callback)] {
    signalfd_siginfo info{};
    if (::read(number, &info, sizeof info) != sizeof info) return;
    callback(static_cast<int>(info.ssi_signo));
  };
  state->arm();
  return Watch(std::move(state));
}

void EventLoop::run() {
  while (!impl_->stop_requested.exchange(false)) impl_->context.run_one();
}

void EventLoop::stop() {
  impl_->stop_requested = true;
  asio::post(impl_->context, [] {});
}

bool EventLoop::run_until(const std::function<bool()>& done, base::Instant deadline) {
  while (!done()) {
    if (impl_->stop_requested.exchange(false)) return false;
    if (impl_->context.run_one_until(deadline) == 0) return done();
  }
  return true;
}

}  // namespace gangrun::net
