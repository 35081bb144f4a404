#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/spec.h"
#include "jobfile/place_rules.h"
#include "ssh/keeper_messages.h"
#include "ssh/ssh_options.h"

namespace gangrun::ssh {

// The parts of a job that these hosts take, whatever they have.
jobfile::PlaceRules ssh_rules();

// Whether the hosts have the GPUs that the job asks for: `hosts` with what each has said of itself.
base::Result<> check_gpus(const job::JobSpec& spec, const std::vector<int>& gpus_of_hosts);

// Whether a host can run the tasks that have an image: any host may get them.
base::Result<> check_engine(const job::JobSpec& spec, const std::string& host,
                            const HelloMessage& hello);

}  // namespace gangrun::ssh
