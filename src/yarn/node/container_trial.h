#pragma once

#include <string>

namespace gangrun::yarn::node {

// In a container: does what `text` (yarn/node_trial.h) says and prints what it found.
// Returns the exit status: 0 also where something failed, as that is what was to be found.
int run_container_trial(const std::string& text);

}  // namespace gangrun::yarn::node
