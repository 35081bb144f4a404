#pragma once

#include <string>

// The words for how a process ended, on every place.
namespace gangrun::base {

struct ProcessEnd {
  int code = 0;    // its status
  int signal = 0;  // that ended it, or 0
  bool out_of_memory = false;
  bool core_dumped = false;
};
// Goes on after a name: "exited with status 3", "was killed by signal 9 (out of memory)", "was
// killed by signal 11 (segmentation fault, core dumped)".
std::string to_words(const ProcessEnd& end);

// "segmentation fault" for SIGSEGV; "real-time signal 3" for the nameless ones.
std::string signal_words(int signal);

}  // namespace gangrun::base
