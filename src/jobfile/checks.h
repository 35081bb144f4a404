#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobfile/problem.h"

// The rules of single values of a job file.
namespace gangrun::jobfile {

// The problem that there are more than `most` of these things.
Found check_count(std::size_t count, std::size_t most, std::string_view things,
                  const std::string& path);

// Whether a cluster's nodes unpack what is called so.
bool is_archive_name(std::string_view path);

// The first thing that is wrong with `archives`, which map a folder in a task's working folder to a
// path or URL; `path` is where they stand ("tasks.worker.archives").
Found check_archives(const std::map<std::string, std::string>& archives, const std::string& path);

// JobSpec::outputs or TaskSpec::outputs.
Found check_outputs(const std::vector<std::string>& outputs, const std::string& path);

// The label of nodes, of tasks or of a job's master. Absent: what the cluster says.
Found check_label(const std::optional<std::string>& label, const std::string& path);

}  // namespace gangrun::jobfile
