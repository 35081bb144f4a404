#pragma once

#include <cstddef>

namespace gangrun::kubernetes::loader {

// The number of an error, as system_call() returns it below zero.
struct ErrorNumber {
  long number;
};

// One line that says what is wrong. What is longer than it is cut.
class Words {
 public:
  // Says it, and is false: what a function returns that has failed.
  template <typename... Parts>
  bool say(const Parts&... parts) {
    size_ = 0;
    (add(parts), ...);
    return false;
  }

  // Writes the line to standard error.
  void tell() const;

 private:
  static constexpr std::size_t kMaxSize = 1000;

  void add(const char* text);
  void add(unsigned long number);
  void add(ErrorNumber error);

  char text_[kMaxSize + 1] = {};
  std::size_t size_ = 0;
};

}  // namespace gangrun::kubernetes::loader
