#pragma once

#include <cstdint>
#include <string>

namespace gangrun::cluster {

// A file that a task has left as output and that is kept elsewhere, an empty folder, or a symbolic
// link where it has a target.
struct FarFile {
  std::string task;  // "worker-0"
  std::string name;  // relative to the task's folder
  std::uint64_t bytes = 0;
  std::int64_t modified_ms = 0;  // since the epoch
  bool is_executable = false;
  bool is_folder = false;
  std::string target{};
};

}  // namespace gangrun::cluster
