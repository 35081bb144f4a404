#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "job/spec.h"
#include "ssh/ssh_launcher.h"

namespace gangrun::ssh::commands {

// The files and folders that a host without the working folder is to have, with all that is in
// them. A name that no host could have is an error.
base::Result<std::vector<ssh::HostFile>> host_files(const job::JobSpec& spec,
                                                    const std::string& folder);

}  // namespace gangrun::ssh::commands
