#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/exit_words.h"

namespace gangrun::process {

// How a process ended.
struct Exit {
  enum class Kind { kExited, kSignaled };

  Kind kind = Kind::kExited;
  int code = 0;    // with kExited
  int signal = 0;  // with kSignaled
  bool core_dumped = false;
  // Not known from the exit itself: whoever holds an OutOfMemoryWatch sets it.
  bool out_of_memory = false;
  // The use of the process and of those children that it waited for.
  base::Duration user_cpu{};
  base::Duration system_cpu{};
  std::uint64_t max_rss_bytes = 0;  // the largest single process among them

  [[nodiscard]] bool succeeded() const { return kind == Kind::kExited && code == 0; }
  [[nodiscard]] base::ProcessEnd end() const;
  // Goes on after a name (base/exit_words.h).
  [[nodiscard]] std::string to_words() const { return base::to_words(end()); }
  // The status that a shell would have: the same, or 128 + the signal.
  [[nodiscard]] int shell_status() const { return kind == Kind::kExited ? code : 128 + signal; }
};

// From what wait4() gives.
Exit exit_from_wait(int status, const rusage& usage);

}  // namespace gangrun::process
