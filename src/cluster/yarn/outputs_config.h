#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace gangrun::cluster {

// Under which an agent finds its OutputsConfig among the container's credentials; only those of
// tasks that have outputs do.
inline constexpr const char* kOutputsSecret = "gangrun.outputs";

// What the agent of a task must know to write the task's outputs to the cluster's file system.
struct OutputsConfig {
  std::string folder;  // of the job's outputs there; a folder of the task is made in it
  std::string user;    // whose job it is
  // Of Hadoop's configuration, as the client has it.
  std::map<std::string, std::string> hadoop{};
  std::string token_service{};                 // on a cluster with Kerberos; else empty
  std::optional<std::uint64_t> limit_bytes{};  // of all outputs of a run of the task

  friend bool operator==(const OutputsConfig&, const OutputsConfig&) = default;
};

base::Json to_json(const OutputsConfig& config);
base::Result<OutputsConfig> outputs_config_from_json(const base::Json& json);

}  // namespace gangrun::cluster
