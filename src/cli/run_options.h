#pragma once

#include <optional>
#include <string>

#include "job/flags.h"

namespace gangrun::cli {

// What `gangrun run` was told.
struct RunOptions {
  job::Flags flags;
  std::string spec_path;  // empty: the job is in the flags
  std::optional<std::string> host;
  bool dry_run = false;
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool logs = false;
  bool no_logs = false;
  bool serve_tls = false;
};

}  // namespace gangrun::cli
