#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/context.h"
#include "client/run_options.h"
#include "job/spec.h"
#include "jobfile/build.h"
#include "jobfile/place_rules.h"
#include "jobfile/shipped_files.h"
#include "net/interfaces.h"

// All checks before a job is started: what is wrong here is bad input.
namespace gangrun::client {

// The kind of file at an absolute path.
jobfile::FileKind kind_of(const std::string& path);

// Whether a word of the command line has the ending of job files.
bool is_named_as_job_file(const std::string& word);

// A path as it is found from `folder`, where gangrun was called.
std::string in_folder(const std::string& folder, const std::string& path);

// Reads the job file, if one is named and its text is not known.
base::Result<> read_spec_text(RunOptions& options, const std::string& folder);

// The job of a file (if one is named) and flags. Paths of `files` and `archives` in a file are
// relative to the file, those in flags to the folder where gangrun was called. `without_use` gets
// the paths of what the file has for other places than that where the job runs, `sources` where the
// values come from.
base::Result<job::JobSpec> read_job(const RunOptions& options, const std::string& folder,
                                    const jobfile::RulesOfPlaces& places,
                                    std::vector<std::string>* without_use = nullptr,
                                    jobfile::Sources* sources = nullptr);

// "-r ps:1,worker:2" where these words of `gangrun run` are types of tasks and their numbers, which
// some launchers take without a flag; none where one of them is something else.
std::optional<std::string> meant_as_roles(const std::vector<std::string>& words);

// Bad input: why a path that a flag names cannot be taken.
base::Error refused_path(std::string_view flag, const std::string& value, std::string_view why);

// Whether a file that a flag names (`as_written`) is a regular one at `path` and can be read. An
// error begins with the flag and is bad input.
base::Result<> check_local_file(std::string_view flag, const std::string& as_written,
                                const std::string& path);

// The same of a file or folder, as it is found from `folder`.
base::Result<> check_local_input(std::string_view flag, const std::string& input,
                                 const std::string& folder);

// The same error as one about the input: that a named thing cannot be used is, whatever the reason.
base::Error as_bad_input(const base::Error& error);

// Whether the files and archives that the job needs can be read. Those of a cluster's file system
// are not looked for. `are_brought`: under names of their own, which an entry may have behind "#".
base::Result<> check_files(const job::JobSpec& spec, const std::string& folder, bool are_brought);

// The name or address by which the tasks of the job know this machine, and why: `wanted`, if it is
// one of this machine's, or one of the job's interface.
base::Result<net::ChosenAddress> host_for_tasks(const job::JobSpec& spec,
                                                const std::optional<std::string>& wanted,
                                                base::Instant deadline);

}  // namespace gangrun::client
