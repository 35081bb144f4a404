#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "job/problem.h"
#include "job/spec.h"

namespace gangrun::job {

// "PATH" or "PATH:ro". What it cannot be is left to check_mounts().
Mount mount_from(std::string_view text);
std::string to_string(const Mount& mount);

// A name as Docker's engine takes it (its reference grammar): "[HOST[:PORT]/]NAME[:TAG][@DIGEST]".
// Empty is none.
Found check_image(const std::string& image, const std::string& path);

// Those that the tasks of the job run in.
std::set<std::string> images_of(const JobSpec& job);

Found check_mounts(const std::vector<Mount>& mounts);

}  // namespace gangrun::job
