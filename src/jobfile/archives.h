#pragma once

#include <map>
#include <string>
#include <string_view>

#include "jobfile/problem.h"

// Archives that a task finds unpacked: folder in its working folder → path or URL.
namespace gangrun::jobfile {

// Whether a cluster's nodes unpack what is called so.
bool is_archive_name(std::string_view path);

// The first thing that is wrong with `archives`; `path` is where they stand
// ("tasks.worker.archives").
Found check_archives(const std::map<std::string, std::string>& archives, const std::string& path);

}  // namespace gangrun::jobfile
