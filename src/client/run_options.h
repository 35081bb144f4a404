#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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

// Own flags of the places whose tasks connect to a master here: hosting_flags().
inline constexpr std::string_view kHostFlag = "--host";
inline constexpr std::string_view kServeTlsFlag = "--serve-tls";

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
  // The options that not every place takes, by their flags (OwnFlag): values, and switches.
  std::map<std::string, std::optional<std::string>, std::less<>> of_place{};
  std::map<std::string, bool, std::less<>> switches_of_place{};
  bool dry_run = false;
  bool detach = false;
  // With `detach`: what comes once the job is submitted; none: its id is told.
  std::function<ExitStatus(const std::string& id, const job::JobSpec& spec)> when_submitted;

  [[nodiscard]] std::optional<std::string> value_of_place(std::string_view flag) const {
    const auto given = of_place.find(flag);
    return given == of_place.end() ? std::nullopt : given->second;
  }
  [[nodiscard]] bool has_switch_of_place(std::string_view flag) const {
    const auto given = switches_of_place.find(flag);
    return given != switches_of_place.end() && given->second;
  }
};

}  // namespace gangrun::client
