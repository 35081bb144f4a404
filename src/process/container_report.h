#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "process/exit.h"
#include "process/proc_fs.h"

namespace gangrun::process {

// The file that the first process of a container writes and the agent reads: the engine's client
// tells neither signals from statuses nor its own failures from the program's.
struct ContainerReport {
  Usage usage;
  std::optional<Exit> exit;  // once the program has ended
  std::string error;         // why the program could not be started, else empty
};

base::Result<> write_container_report(const std::string& path, const ContainerReport& report);
// None where there is no such file, which is so until the container runs.
std::optional<ContainerReport> read_container_report(const std::string& path);

}  // namespace gangrun::process
