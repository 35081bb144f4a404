#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/described.h"
#include "base/described_json.h"
#include "base/result.h"
#include "client/context.h"
#include "client/run_options.h"
#include "job/spec.h"
#include "jobfile/default_files.h"

// The record of how a job was started from here, by which it is started again: as its user gave it,
// and not as it was planned, so that other flags win over it.
namespace gangrun::client {

// A file or folder that the job took along, as it was then.
struct RecordedFile {
  std::string path;  // absolute
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;       // of a folder
  std::int64_t modified_ns = 0;  // the newest of a folder

  static constexpr bool kIsOpen = true;
  GANGRUN_ROWS(RecordedFile, path, bytes, files, modified_ns);

  friend bool operator==(const RecordedFile&, const RecordedFile&) = default;
};

// The flags of a job that were given; see job::Flags.
struct RecordedFlags {
  using Lists = std::map<std::string, std::vector<std::string>>;

  std::vector<std::string> roles{};
  Lists fields{};
  std::map<std::string, std::string> job_fields{};
  Lists job_lists{};
  std::vector<std::string> job_switches{};
  Lists lists{};                                // "env", "ports", "resource", "timeout", …
  std::map<std::string, std::string> values{};  // "framework", "restarts", "host", …
  std::map<std::string, std::string> of_place{};
  std::vector<std::string> switches{};  // "serve_tls", …
  std::vector<std::string> command{};

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(GANGRUN_EACH(base::row_if_set, RecordedFlags, roles, fields, job_fields,
                                   job_lists, job_switches, lists, values, of_place, switches,
                                   command));
  }
};

struct RunRecord {
  std::string folder;                 // in which gangrun was called
  std::string spec_path{};            // of the job file; empty: there was none
  std::optional<std::string> text{};  // of that
  std::vector<jobfile::DefaultFile> defaults{};
  RecordedFlags flags{};
  std::vector<RecordedFile> files{};

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("folder", &RunRecord::folder),
                      base::row_if_set("spec_path", &RunRecord::spec_path),
                      base::row("text", &RunRecord::text),
                      base::row_if_set("defaults", &RunRecord::defaults),
                      base::row("flags", &RunRecord::flags), base::row("files", &RunRecord::files));
  }
};

// Between the flags as they are read and as they are recorded. What only says how a run is shown,
// or whether it is detached or a plan, is not recorded.
RecordedFlags recorded(const RunOptions& options);
RunOptions run_options_of(const RunRecord& record);

// `more` is given beside `options`, and wins: of a type, a variable or a value that both name.
void add_options(const RunOptions& more, RunOptions& options);

// How the files and folders of the job are now, as far as they are there.
std::vector<RecordedFile> files_of(const job::JobSpec& spec, const std::string& folder);

// Keeps the record of a job that has just been submitted. Where it cannot be kept, that is told,
// and the job goes on.
void keep_run(const std::string& id, const job::JobSpec& spec, const RunOptions& options,
              Context& context);
// Leaves a job that has just been submitted and needs this process no more. `json` is what is told
// of it with --json.
ExitStatus leave_submitted(const std::string& id, const base::Json& json, const job::JobSpec& spec,
                           const RunOptions& options, Context& context);
// kNotFound: there is none.
base::Result<RunRecord> kept_run(const std::string& home, const std::string& id);
// The job has been removed.
void forget_run(const std::string& home, const std::string& id);

}  // namespace gangrun::client
