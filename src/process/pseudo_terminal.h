#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::process {

// The two ends of a terminal that no device stands behind.
struct PseudoTerminal {
  base::UniqueFd ours;    // what is written here the program reads; reading does not block
  base::UniqueFd theirs;  // the terminal of a program: SpawnOptions::takes_terminal
};

// No child gets its ends but by SpawnOptions.
base::Result<PseudoTerminal> open_pseudo_terminal(int rows, int columns);
// The program's processes in the foreground are told of it.
void set_window(int terminal, int rows, int columns);

}  // namespace gangrun::process
