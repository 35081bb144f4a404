#pragma once

#include <functional>
#include <string>

namespace gangrun::journal {

// Keeps the journal where a master on another host finds it. Called on the loop's thread.
class FarCopy {
 public:
  virtual ~FarCopy() = default;
  // Calls `done` from the loop when everything that has been recorded by now is there, or is not
  // waited for any more. The calls of `done` come in the order of those of copy().
  virtual void copy(std::function<void()> done) = 0;
  // The job has ended: what cannot be copied now is not waited for long.
  virtual void hurry() {}
  // The error that keeps the copy from being made; empty while all is well.
  [[nodiscard]] virtual std::string trouble() const { return {}; }
};

}  // namespace gangrun::journal
