#pragma once

#include <string>

#include "base/result.h"
#include "client/place.h"
#include "cluster/check.h"
#include "cluster/ssh/keeper_messages.h"
#include "job/spec.h"

namespace gangrun::client {

// The words of a host about itself after a login, in one line.
cluster::Check check_of_host(const std::string& host, const cluster::HelloMessage& hello);

// Logs in to the hosts of the job as `run` would, beside each other, and starts nothing.
base::Result<Examination> look_at_hosts(const job::JobSpec& spec, Context& context);

}  // namespace gangrun::client
