#pragma once

#include <optional>
#include <string>
#include <vector>

#include "job/spec.h"

namespace gangrun::ssh {

struct HostFolder {
  std::string host;
  bool is_shared = false;  // whether it has the client's folder
};

struct WorkingFolder {
  std::string path;       // the client's
  std::string no_mark{};  // why it cannot be known who shares it; empty: it can
  std::string remark{};   // says in which folders below it the tasks work; empty: in it
  bool is_kept = false;   // a copy of it, until the job is removed
};

// Says where the tasks of the hosts work, in one sentence; none where all work in the client's
// folder.
std::optional<std::string> where_tasks_work(const WorkingFolder& folder,
                                            const std::vector<HostFolder>& hosts);

// The same before any host has been asked, with what becomes of a copy.
std::string where_tasks_would_work(const std::string& folder, const job::JobSpec& spec);

}  // namespace gangrun::ssh
