#include "host/open_files.h"

#include "process/open_files.h"

namespace gangrun::host {

namespace {

// Its own, and those of commands that ask it.
constexpr std::size_t kOfTheMaster = 64;
// For each task its connection, its process, what that says at its end; and one to start it with.
constexpr std::size_t kOfATask = 4;

}  // namespace

base::Result<> check_open_files(const job::JobSpec& spec) {
  return process::check_open_files(kOfTheMaster + kOfATask * spec.task_ids().size());
}

}  // namespace gangrun::host
