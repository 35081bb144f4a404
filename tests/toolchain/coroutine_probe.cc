// Tells whether this compiler destroys the captured objects of a co_awaited call exactly once.
// Prints one line for each form of the call and ends with "defect" or "correct"; the status is 0
// both times.
#include <coroutine>
#include <cstdio>
#include <exception>
#include <functional>
#include <utility>

namespace {

int made = 0;
int destroyed = 0;

struct Counted {
  Counted() { ++made; }
  Counted(const Counted& /*other*/) { ++made; }
  Counted(Counted&& /*other*/) noexcept { ++made; }
  Counted& operator=(const Counted&) = delete;
  Counted& operator=(Counted&&) = delete;
  ~Counted() { ++destroyed; }
};

// The smallest task that can be awaited: starts when awaited, resumes its awaiter at the end.
class Task {
 public:
  struct promise_type {
    std::coroutine_handle<> awaiter = std::noop_coroutine();
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct ResumeAwaiter {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
        return ended.promise().awaiter;
      }
      void await_resume() noexcept {}
    };
    ResumeAwaiter final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) {
    handle_.promise().awaiter = awaiter;
    return handle_;
  }
  void await_resume() {}
  bool run() {
    handle_.resume();
    return handle_.done();
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

struct Options {
  Counted counted;
  int number = 1;
};

template <typename Function>
Task by_value(Function function) {
  function();
  co_return;
}
template <typename Function>
Task by_reference(const Function& function) {
  function();
  co_return;
}
Task by_std_function(std::function<void()> function) {
  function();
  co_return;
}
Task by_aggregate(Options /*options*/) { co_return; }

Task await_by_value() {
  Counted counted;
  co_await by_value([counted] {});
}
Task await_by_reference() {
  Counted counted;
  co_await by_reference([counted] {});
}
Task await_by_std_function() {
  Counted counted;
  co_await by_std_function([counted] {});
}
Task await_by_aggregate() { co_await by_aggregate({Counted{}, 2}); }
Task await_the_lambda_itself() {
  Counted counted;
  co_await [counted]() -> Task { co_return; }();
}

bool is_defective(const char* form, Task (*make)()) {
  made = 0;
  destroyed = 0;
  bool done = false;
  {
    Task task = make();
    done = task.run();
  }
  std::printf("%-24s made %d, destroyed %d%s\n", form, made, destroyed,
              done ? "" : ", never ended");
  return made != destroyed || !done;
}

}  // namespace

int main() {
  bool defect = is_defective("lambda by value", await_by_value);
  defect = is_defective("lambda by reference", await_by_reference) || defect;
  defect = is_defective("lambda by std::function", await_by_std_function) || defect;
  defect = is_defective("aggregate", await_by_aggregate) || defect;
  defect = is_defective("lambda as coroutine", await_the_lambda_itself) || defect;
  std::puts(defect ? "defect" : "correct");
}
