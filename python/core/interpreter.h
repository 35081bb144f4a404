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

// The interpreter is given up for as long as this lives.
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) {}
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;
  ~Released() {
    take_interpreter([this] { PyEval_RestoreThread(state_); });
  }

 private:
  PyThreadState* state_;
};

// The interpreter is had for as long as this lives.
class Held {
 public:
  Held() {
    take_interpreter([this] { state_ = PyGILState_Ensure(); });
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_ = PyGILState_UNLOCKED;
};

}  // namespace gangrun::core
