#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/described.h"
#include "base/result.h"
#include "job/spec.h"

// The files of a job's tasks that were brought, in the job's folder on this machine.
namespace gangrun::cli {

struct FetchedOutput {
  std::string task;  // "worker-0", its folder
  std::string name;  // of the file or folder in it
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;

  GANGRUN_ROWS(FetchedOutput, task, name, files, bytes);

  friend bool operator==(const FetchedOutput&, const FetchedOutput&) = default;
};

// Whether `name` can be of something that was brought of the job: a task, by either of its names, a
// host, or empty, which is all. Else the error says what can be named.
base::Result<> check_fetched_name(const job::JobSpec& spec, const std::string& name);

// The entries of `folder`, in the order of the names; none if there is no such folder.
base::Result<std::vector<FetchedOutput>> fetched_outputs(const std::string& folder);

// Copies one to `to` (made where it is not there), under its task's name. kAlreadyExists, and
// nothing is changed, where something is in its place.
base::Result<> copy_output(const std::string& folder, const FetchedOutput& output,
                           const std::string& to);

}  // namespace gangrun::cli
