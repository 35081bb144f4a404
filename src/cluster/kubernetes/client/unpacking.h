#pragma once

#include <string>

#include "base/result.h"

namespace gangrun::client {

// Unpacks a tar file into a folder by the machine's tar program, which leaves absolute names and
// ".." out. Files become ours. Blocks.
base::Result<> unpack_tar(const std::string& archive, const std::string& folder);

}  // namespace gangrun::client
