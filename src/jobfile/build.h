#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/spec.h"
#include "jobfile/draft.h"
#include "jobfile/flags.h"
#include "jobfile/place_rules.h"

namespace gangrun::jobfile {

// How long an evaluator may go on without progress where nobody says otherwise.
inline constexpr std::chrono::milliseconds kDefaultObserverGrace = std::chrono::minutes(2);

// The sources of a job's values, by their paths (JobDraft). A value that stands nowhere here is
// built in, or follows from the others.
struct Sources {
  std::map<std::string, std::string> origins{};
  std::map<std::string, std::string> defaults{};
  std::map<std::string, std::string> left_out{};  // defaults that this job has no use for
};

// The facts that a command knows beside the file's content and the flags.
struct Defaults {
  std::string spec_path{};  // of the job file, for the job's name; empty: none
  // The places that `on` may name, and their rules. Null: a job that was checked before, by who had
  // them.
  const RulesOfPlaces* places = nullptr;
  // Gets the paths of what the job has for other places than its own; null: nobody asks.
  std::vector<std::string>* without_use = nullptr;
  // Gets them; null: nobody asks.
  Sources* sources = nullptr;
  // Gets the path of a value that is right, but not for where the job runs; null: likewise.
  std::string* refused_here = nullptr;
};

// The complete job of a file (if there is one) and flags: flags win over the file, a more specific
// flag over a more general one whatever their order, and what neither gives has its default. The
// result is valid. The one error says where the value stands: in the file, or in which flag.
base::Result<job::JobSpec> build(const std::optional<JobDraft>& draft, const Flags& flags,
                                 const Defaults& defaults);

}  // namespace gangrun::jobfile
