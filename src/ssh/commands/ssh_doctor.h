#pragma once

#include <string>

#include "base/result.h"
#include "client/place.h"
#include "cluster/check.h"
#include "job/spec.h"
#include "ssh/keeper_messages.h"

namespace gangrun::ssh::commands {

// The words of a host about itself after a login, in one line.
cluster::Check check_of_host(const std::string& host, const ssh::HelloMessage& hello);

// Logs in to the hosts of the job as `run` would, beside each other, and starts nothing.
base::Result<client::Examination> look_at_hosts(const job::JobSpec& spec, client::Context& context);

}  // namespace gangrun::ssh::commands
