#pragma once

#include <string>

// What people read of how a process ended, on every place. Each sentence goes on after a name:
// "worker:3 was killed by signal 9 (out of memory)".
namespace gangrun::base {

// "exited with status 3".
std::string exited_words(int status);

struct Killed {
  int signal = 0;
  bool out_of_memory = false;
  bool core_dumped = false;
};
// "was killed by signal 11 (segmentation fault, core dumped)".
std::string killed_words(const Killed& killed);

// "segmentation fault" for SIGSEGV; "real-time signal 3" for the nameless ones.
std::string signal_words(int signal);

}  // namespace gangrun::base
