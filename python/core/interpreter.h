#pragma once

#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

namespace gangrun::core {

// Before 3.14 Python ends a thread that asks for the interpreter while the program is ending, by
// unwinding its stack; on the way through a function that must not throw that would end the whole
// program by SIGABRT. Such a thread waits here for the program's end, as Python 3.14 itself has it.
template <typename Take>
void take_interpreter(Take take) {
  try {
    take();
  } catch (const abi::__forced_unwind&) {
    while (true) ::pause();
  }
}

// The interpreter is given up for as long as this lives. One at a time in a thread.
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) { of_this_thread_ = this; }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;
  ~Released() {
    of_this_thread_ = nullptr;
    take();
  }

  // Calls `use` with the interpreter, which this thread has given up. By the state that it had
  // then: PyGILState_Ensure() makes another one where the program's end has taken that away, and
  // there is nothing any more to make it of.
  template <typename Use>
  static auto with_interpreter(Use use) {
    of_this_thread_->take();
    const auto result = use();
    of_this_thread_->state_ = PyEval_SaveThread();
    return result;
  }

 private:
  void take() {
    take_interpreter([this] { PyEval_RestoreThread(state_); });
  }

  inline static thread_local Released* of_this_thread_ = nullptr;
  PyThreadState* state_;
};

}  // namespace gangrun::core
