#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace gangrun::cluster {

// What a job has, or may have, on a host.
struct HostRecord {
  std::string host;         // as the user calls it
  std::string run_folder;   // a name
  std::string path;         // of it, on the host
  bool works_here = false;  // whether its tasks work in the client's folder

  friend bool operator==(const HostRecord&, const HostRecord&) = default;
};

// In a file of the job's folder: for the next master of the job, and for who removes the job.
// Without records there is no file.
base::Result<> write_host_records(const std::string& path, const std::vector<HostRecord>& records);
base::Result<std::vector<HostRecord>> read_host_records(const std::string& path);

}  // namespace gangrun::cluster
