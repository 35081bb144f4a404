#pragma once

#include <functional>

namespace gangrun::journal {

// Keeps the journal where a master on another host finds it. Called on the loop's thread.
class FarCopy {
 public:
  virtual ~FarCopy() = default;
  // Calls `done` from the loop when everything that has been recorded by now is there, or is not
  // waited for any more. The calls of `done` come in the order of those of copy().
  virtual void copy(std::function<void()> done) = 0;
};

}  // namespace gangrun::journal
