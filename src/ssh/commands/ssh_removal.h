#pragma once

#include <string>

#include "base/result.h"
#include "client/context.h"
#include "job/spec.h"

namespace gangrun::ssh::commands {

// Logs in to the hosts that have folders of an ended job, and has them removed. An error names a
// host that still has one; the others are not asked again. `hosts_file`: the job's record of them
// (ssh/host_records.h).
base::Result<> remove_from_hosts(const job::JobSpec& spec, const std::string& job_id,
                                 const std::string& hosts_file, const client::Context& context);

}  // namespace gangrun::ssh::commands
