#include "net/workers.h"

#include <csignal>
#include <system_error>

#include "base/format.h"

namespace gangrun::net {

Workers::Workers(EventLoop& loop, int max_threads)
    : posts_(loop), max_threads_(static_cast<std::size_t>(max_threads)) {}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

base::Result<> Workers::submit(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= kMaxQueuedJobs) {
      return base::Error{base::Code::kResourceExhausted,
                         base::format("{} jobs wait for a worker thread already", kMaxQueuedJobs)};
    }
    queue_.push_back(std::move(job));
    if (idle_ < queue_.size() && threads_.size() < max_threads_) {
      // Signals belong to the thread of the loop.
      sigset_t all;
      sigset_t before;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
      try {
        threads_.emplace_back([this] { serve(); });
      } catch (const std::system_error&) {
        // Without any thread nobody would ever take the job; with some it only waits longer.
        if (threads_.empty()) queue_.pop_back();
      }
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      if (threads_.empty()) {
        return base::Error{base::Code::kResourceExhausted, "no worker thread can be started"};
      }
    }
  }
  wake_.notify_one();
  return {};
}

void Workers::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    --idle_;
    if (stopping_) return;
    Job job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    std::function<void()> deliver = job();
    job = nullptr;
    posts_.post(std::move(deliver));
    lock.lock();
  }
}

}  // namespace gangrun::net
