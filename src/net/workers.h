#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/event_loop.h"
#include "net/posts.h"

namespace gangrun::net {

inline constexpr std::size_t kMaxQueuedJobs = 1024;

// Threads for what can only block. Each job runs on one of them; its result comes back in the loop.
// Threads start when they are first needed and are joined by the destructor: jobs that have not
// started are dropped then, running ones are waited for (so a job bounds its own waits), and no
// `done` is called any more.
class Workers {
 public:
  using Job = std::function<std::function<void()>()>;

  Workers(EventLoop& loop, int max_threads);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();

  // `work()` on a worker thread, then `done(its value)` in the loop. kResourceExhausted when
  // kMaxQueuedJobs wait already; then neither is called.
  template <typename Work, typename Done>
  base::Result<> run(Work work, Done done);

  // The same without types: `job` runs on a worker thread, what it returns runs in the loop.
  base::Result<> submit(Job job);

 private:
  void serve();

  const Posts posts_;
  const std::size_t max_threads_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> queue_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

template <typename Work, typename Done>
base::Result<> Workers::run(Work work, Done done) {
  using Value = std::invoke_result_t<Work&>;
  // `done` often holds what belongs to the loop, so the worker thread only moves it along.
  auto carried = std::make_shared<Done>(std::move(done));
  return submit([work = std::move(work), carried]() mutable -> std::function<void()> {
    if constexpr (std::is_void_v<Value>) {
      work();
      return [carried = std::move(carried)] { (*carried)(); };
    } else {
      auto value = std::make_shared<Value>(work());
      return [value, carried = std::move(carried)] { (*carried)(std::move(*value)); };
    }
  });
}

}  // namespace gangrun::net
