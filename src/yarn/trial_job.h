#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cluster/check.h"
#include "hadoop/account.h"
#include "hadoop/configuration.h"
#include "hadoop/file_system.h"
#include "job/spec.h"
#include "yarn/node_trial.h"

namespace gangrun::yarn {

// The files of a job that `gangrun doctor` runs in one container, from its submission until nothing
// of it is left.
struct TrialJob {
  NodeTrial trial;
  std::string queue;  // empty: the default one
  std::string agent_program;
  std::int64_t largest_mib = 0;  // of one container
  std::map<std::string, std::string> environment{};
  std::function<bool()> is_over;  // the user wants no more of it: asked now and then
  // Told the job's id before YARN may have taken it.
  std::function<void(const std::string& id)> submits;
};

// The job that is submitted.
job::JobSpec trial_spec(const TrialJob& job);

// Whether YARN starts a container, and what that one finds; minutes at most. What it leaves on the
// cluster is the agent, as every job does, and YARN's own record.
std::vector<cluster::Check> run_trial_job(const hadoop::Configuration& configuration,
                                          const hadoop::FileSystem& file_system,
                                          const hadoop::Account& account, const base::Clock& clock,
                                          const TrialJob& job);

}  // namespace gangrun::yarn
