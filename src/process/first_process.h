#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/stopping.h"

namespace gangrun::process {

// The first process of a task's container, which is our own program whatever image it is: it starts
// the user's program, passes signals on to it, reaps orphans and ends as it ended; the kernel then
// ends everything else in the container.
//
// Its standard input is the lifeline. The agent holds the other end, through the engine's client:
// when the agent, its guardian or the client dies, however it dies, the input ends, and so does the
// container.
struct FirstProcess {
  // Variables, each ended by a zero byte, that go over those of the image. Not in the engine's
  // arguments, which it shows to everybody who may use it. Removed when it has been read.
  std::string environment_file;
  std::string report_file;  // container_report.h
  Stopping::How stop;
  std::vector<std::string> argv;
};

// `ours` with those of `text` ("NAME=value" with a zero byte after each), which replace what `ours`
// has of the same name.
std::vector<std::string> merge_environment(const std::vector<std::string>& ours,
                                           std::string_view text);

// For the first process of a PID namespace only: else an error, as it would end its neighbours.
// Gives the status to exit with.
base::Result<int> run_first_process(const FirstProcess& options);

}  // namespace gangrun::process
