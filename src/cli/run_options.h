#pragma once

#include <optional>
#include <string>

#include "job/flags.h"

namespace gangrun::cli {

// How much of a running job is shown, and how.
struct DisplayOptions {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool logs = false;
  bool no_logs = false;
};

// What `gangrun run` was told.
struct RunOptions {
  job::Flags flags;
  DisplayOptions display;
  std::string spec_path;  // empty: the job is in the flags
  std::optional<std::string> host;
  bool dry_run = false;
  bool detach = false;
  bool serve_tls = false;
};

}  // namespace gangrun::cli
