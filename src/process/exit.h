#pragma once

#include <string>

#include "base/exit_words.h"

namespace gangrun::process {

// How a process ended.
struct Exit {
  int code = 0;
  int signal = 0;  // that killed it; 0: it has exited
  bool core_dumped = false;
  // Not known from the exit itself: whoever holds an OutOfMemoryWatch sets it.
  bool out_of_memory = false;

  [[nodiscard]] bool succeeded() const { return code == 0 && signal == 0; }
  [[nodiscard]] base::ProcessEnd end() const;
  // Goes on after a name (base/exit_words.h).
  [[nodiscard]] std::string to_words() const { return base::to_words(end()); }
  // The status that a shell would have: the same, or 128 + the signal.
  [[nodiscard]] int shell_status() const { return signal == 0 ? code : 128 + signal; }
};

// `status` is waitpid()'s.
Exit exit_from_wait(int status);

}  // namespace gangrun::process
