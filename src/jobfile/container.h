#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "job/spec.h"
#include "jobfile/problem.h"

namespace gangrun::jobfile {

// "PATH" or "PATH:ro". What it cannot be is left to check_mounts().
job::Mount mount_from(std::string_view text);
std::string to_string(const job::Mount& mount);

// A name as Docker's engine takes it (its reference grammar): "[HOST[:PORT]/]NAME[:TAG][@DIGEST]".
// Empty is none.
Found check_image(const std::string& image, const std::string& path);

// Those that the tasks of the job run in.
std::set<std::string> images_of(const job::JobSpec& job);

Found check_mounts(const std::vector<job::Mount>& mounts);

}  // namespace gangrun::jobfile
