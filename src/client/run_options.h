#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/exit_status.h"
#include "job/spec.h"
#include "jobfile/build.h"
#include "jobfile/default_files.h"
#include "jobfile/flags.h"

namespace gangrun::client {

// How much of a running job is shown, and how.
struct DisplayOptions {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool logs = false;
  bool no_logs = false;
};

// The options of `gangrun run`.
struct RunOptions {
  jobfile::Flags flags;
  DisplayOptions display;
  std::vector<std::string> env_files;
  std::string spec_path;  // empty: the job is in the flags
  // The job file as it was read; in a job that is started again, as it was then.
  std::optional<std::string> spec_text{};
  // Likewise the files of defaults.
  std::optional<std::vector<jobfile::DefaultFile>> defaults{};
  bool no_defaults = false;
  jobfile::Sources sources{};  // of the job's values, once it has been read
  std::optional<std::string> host;
  // The options that only one place takes: its flags (OwnFlag) and their values.
  std::map<std::string, std::optional<std::string>, std::less<>> of_place{};
  bool dry_run = false;
  bool detach = false;
  // With `detach`: what comes once the job is submitted; none: its id is told.
  std::function<ExitStatus(const std::string& id, const job::JobSpec& spec)> when_submitted;
  bool serve_tls = false;
};

}  // namespace gangrun::client
