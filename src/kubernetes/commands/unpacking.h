#pragma once

#include <string>

#include "base/result.h"

namespace gangrun::kubernetes::commands {

// Unpacks a tar file from elsewhere into a folder by the machine's tar program, which leaves
// absolute names and ".." out. Files become ours, with no rights that only their own machine could
// give: neither setuid nor a group or others that write. Devices, pipes, links that lead out of the
// folder, and files with holes that are larger than the whole archive are left out, and named in
// what it returns; that is empty otherwise. Nobody else can
// enter the folder before that. Blocks.
base::Result<std::string> unpack_tar(const std::string& archive, const std::string& folder);

}  // namespace gangrun::kubernetes::commands
