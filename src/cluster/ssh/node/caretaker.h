#pragma once

#include <chrono>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

// What is left of a job on its host when its keeper is killed, and no other one comes.
namespace gangrun::node {

// Starts two caretakers for the job's folder, each a process in a session of its own: one looks
// after the folder once nobody has the other end of what is returned, and the other one if that is
// killed. A keeper has it as long as it lives.
base::Result<base::UniqueFd> start_caretakers(const std::string& program,
                                              const std::string& run_folder);

// A caretaker, to its end: waits until `input` ends, and then until another keeper has the folder
// or it is gone; or until no agent of the job has lived for `patience`, and ends what is left of
// the folder as a keeper does.
void take_care(int input, const std::string& run_folder, const base::Clock& clock,
               std::chrono::milliseconds patience);

// `gangrun-agent caretaker RUN_FOLDER`: its exit status.
int run_caretaker(const std::string& run_folder, const base::Clock& clock);

}  // namespace gangrun::node
