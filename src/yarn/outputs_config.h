#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "base/described.h"

namespace gangrun::yarn {

// Under which an agent finds its OutputsConfig among the container's credentials; only those of
// tasks that have outputs do.
inline constexpr const char* kOutputsSecret = "gangrun.outputs";

// The facts that the agent of a task needs to write the task's outputs to the cluster's file
// system.
struct OutputsConfig {
  std::string folder;  // of the job's outputs there; a folder of the task is made in it
  std::string user;    // whose job it is
  // The properties of Hadoop's configuration, as the client has it.
  std::map<std::string, std::string> hadoop{};
  std::string token_service{};                 // on a cluster with Kerberos; else empty
  std::optional<std::uint64_t> limit_bytes{};  // of all outputs of a run of the task

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("folder", &OutputsConfig::folder),
                      base::row("user", &OutputsConfig::user),
                      base::row("hadoop", &OutputsConfig::hadoop),
                      base::row("token_service", &OutputsConfig::token_service),
                      base::row("limit_bytes", &OutputsConfig::limit_bytes));
  }

  friend bool operator==(const OutputsConfig&, const OutputsConfig&) = default;
};

}  // namespace gangrun::yarn
