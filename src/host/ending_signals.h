#pragma once

#include <string>
#include <vector>

namespace gangrun::host {

// The signals by which a user ends what a command does; one that our caller has us ignore (nohup, a
// job in the background of a script) is not among them.
std::vector<int> ending_signals();

// These and those that are a notice for the tasks (process/signals.h).
std::vector<int> job_signals();

// "Ctrl-C", "SIGTERM", …
std::string name_of_signal(int number);

}  // namespace gangrun::host
