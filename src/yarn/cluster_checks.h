#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/check.h"
#include "hadoop/manager_pages.h"
#include "hadoop/records.h"
#include "yarn/submission_checks.h"

// The meaning of a cluster's answers for somebody who wants to run jobs there. Pure.
namespace gangrun::yarn {

inline constexpr const char* kSettingsName = "variables";
inline constexpr const char* kTicketName = "Kerberos ticket";
inline constexpr const char* kResourceManagerName = "ResourceManager";
inline constexpr const char* kNodesName = "nodes";
inline constexpr const char* kLargestName = "largest container";

// The user's own variables: what gangrun needs, and those of Hadoop's tools that name something
// that is not there. `is_folder` says whether a path is one.
cluster::Check check_variables(const std::map<std::string, std::string>& variables,
                               const std::function<bool(const std::string& path)>& is_folder);

// The variables that a process of this machine lacks to load libhdfs (TensorFlow does), in words;
// empty: nothing.
std::string missing_for_libhdfs(const std::map<std::string, std::string>& variables);

// The cluster's answers.
struct ClusterView {
  ClusterFacts facts;
  std::vector<hadoop::NodeReport> nodes;
  std::string address;                // of the ResourceManager that answered
  std::size_t resource_managers = 0;  // that the configuration names
  std::optional<hadoop::Release> release;
};

// The ResourceManager, the queue, the nodes and what they have. `asked` is the requested
// queue; where there is none of that name, the facts' queue has no name.
std::vector<cluster::Check> checks_of(const ClusterView& view, const std::string& asked);

// The same where nobody answered.
std::vector<cluster::Check> checks_without_answer(const base::Error& error,
                                                  const std::string& asked);

// The user's Kerberos ticket, and for how long it is good from now on.
cluster::Check check_ticket(const std::string& principal,
                            const base::Result<std::chrono::seconds>& left);

// Advice for a user about an error of HDFS.
std::string to_do_about_hdfs(const base::Error& error, const std::string& user);

}  // namespace gangrun::yarn
