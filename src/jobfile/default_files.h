#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/described.h"
#include "base/result.h"
#include "job/spec.h"
#include "jobfile/build.h"
#include "jobfile/draft.h"
#include "jobfile/flags.h"

// Files of defaults (docs/defaults.md): values of all jobs that a machine or a user starts. Job
// files and flags win over them.
namespace gangrun::jobfile {

// One of them as it was read.
struct DefaultFile {
  std::string path;
  std::string text;

  static constexpr bool kIsOpen = true;
  GANGRUN_ROWS(DefaultFile, path, text);

  friend bool operator==(const DefaultFile&, const DefaultFile&) = default;
};

// Reads a job file, if there is one, over a draft that has the defaults.
using OverDefaults = std::function<base::Result<JobDraft>(JobDraft defaults)>;

// As build(), where a value that nobody gives has that of `files`, the later of which win. Maps are
// merged by their keys, all else is replaced. A default never makes a job fail for where it runs:
// one that its place does not take is left out, as are the sections of other places.
base::Result<job::JobSpec> build_over(const std::vector<DefaultFile>& files,
                                      const OverDefaults& job_file, const Flags& flags,
                                      const Defaults& facts);

// The place of jobs that name none: the one that `files` say, else the one that is built in.
base::Result<std::string> default_place(const std::vector<DefaultFile>& files,
                                        const RulesOfPlaces& places);

// The keys that a file of defaults may have, in the order of the reference.
std::vector<std::string> default_keys(const RulesOfPlaces& places);

}  // namespace gangrun::jobfile
