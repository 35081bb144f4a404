#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "client/style.h"
#include "job/spec.h"
#include "jobfile/build.h"

namespace gangrun::client {

// Everything that a start of this job would do, as values; no secret is in it.
struct Plan {
  job::JobSpec spec;
  std::string working_folder;
  std::string where_tasks_work{};  // in words, where that is not the working folder; else empty
  std::string job_folder;          // with what is not known yet as "<time>"
  std::string host;
  job::Containment containment = job::Containment::kSubreaper;
  // The lines that only its place can tell, with a name each.
  std::vector<std::pair<std::string, std::string>> more{};
  std::string no_memory = "no memory request";  // of a task that asks for none
  std::string image_runner = "run by the container engine beside the agent";
  jobfile::Sources sources{};
};

// "2 GiB of memory, 1 vcore".
std::string resources_words(const job::Resources& resources, const std::string& no_memory);

// The processes that the level does not cover, in one sentence.
std::string uncovered_by(job::Containment level);
// How programs at the level, run by this user, notice it, or "nothing".
std::string noticed_at(job::Containment level);

// The names of the variables that a task of this type gets besides its own, in their order.
base::Result<std::vector<std::string>> variable_names(const job::JobSpec& spec,
                                                      const job::TaskSpec& task);

base::Result<base::Json> plan_json(const Plan& plan);
base::Result<Lines> plan_lines(const Plan& plan);

}  // namespace gangrun::client
