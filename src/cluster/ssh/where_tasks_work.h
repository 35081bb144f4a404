#pragma once

#include <optional>
#include <string>
#include <vector>

#include "job/spec.h"

namespace gangrun::cluster {

struct HostFolder {
  std::string host;
  bool is_shared = false;  // whether it has the client's folder
};

// Says where the tasks of the hosts work, in one sentence; none where all work in the client's
// `folder`. `no_mark`: why it cannot be known who shares it; empty: it can.
std::optional<std::string> where_tasks_work(const std::string& folder, const std::string& no_mark,
                                            const std::vector<HostFolder>& hosts);

// The same before any host has been asked, with what becomes of a copy.
std::string where_tasks_would_work(const std::string& folder, const job::JobSpec& spec);

}  // namespace gangrun::cluster
