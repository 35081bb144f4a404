#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/ssh/keeper_messages.h"
#include "job/place.h"
#include "job/spec.h"

namespace gangrun::cluster {

// What `on` says for hosts that ssh reaches.
inline constexpr std::string_view kSsh = "ssh";

// What of a job they take, whatever they have.
job::Place ssh_place();

// Whether the hosts have the GPUs that the job asks for: `hosts` with what each has said of itself.
base::Result<> check_gpus(const job::JobSpec& spec, const std::vector<int>& gpus_of_hosts);

// Whether a host can run the tasks that have an image: any host may get them.
base::Result<> check_engine(const job::JobSpec& spec, const std::string& host,
                            const HelloMessage& hello);

}  // namespace gangrun::cluster
