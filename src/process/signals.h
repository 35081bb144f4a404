#pragma once

#include <csignal>
#include <vector>

namespace gangrun::process {

// All that end a process which does not catch them, and that somebody sends: an order to end, or a
// limit of the place that is over. Not those of a fault of the process itself, nor those below.
std::vector<int> ending_signals();

// The signals by which a place warns of its end (batch systems do): SIGUSR1 and SIGUSR2.
std::vector<int> notice_signals();
bool is_notice(int number);

// All of these and SIGCHLD, for who waits for a process and passes on to it what comes.
sigset_t awaited_signals();

// A failure to write (nobody reads it any more, a file is too long) is an error of write() from
// now on, and not our end. What spawn() starts has the default again.
void survive_lost_output();

}  // namespace gangrun::process
