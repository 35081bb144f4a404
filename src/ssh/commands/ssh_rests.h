#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "client/context.h"
#include "client/place.h"
#include "client/transfer_progress.h"
#include "job/spec.h"

namespace gangrun::ssh::commands {

// Logs in to the hosts that have kept files of an ended job, to one after the other, and brings the
// files to the job's outputs. What has come from a host is removed there, unless the job keeps its
// folders; what has not stays, and can be fetched again. What else stays on hosts is told.
// `only`: this host; empty: all. One command of the job at a time.
base::Result<std::vector<client::BroughtRest>> bring_rests(const job::JobSpec& spec,
                                                           const host::JobPaths& paths,
                                                           const std::string& only,
                                                           client::TransferProgress& progress,
                                                           const client::Context& context);

}  // namespace gangrun::ssh::commands
