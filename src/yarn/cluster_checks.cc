#include "yarn/cluster_checks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "yarn/waiting.h"

namespace gangrun::yarn {

namespace {

constexpr const char* kConfFolder = "HADOOP_CONF_DIR";
// Those that Hadoop's own tools read; gangrun reads none of them.
constexpr std::array<const char*, 3> kFoldersOfHadoop{"JAVA_HOME", "HADOOP_HOME",
                                                      "HADOOP_HDFS_HOME"};
constexpr std::string_view kLogIn =
    "the cluster requires Kerberos: use its own configuration (hadoop.security.authentication is "
    "kerberos there), and get a ticket: kinit, then klist";
// A ticket that ends sooner may end before the job has been submitted.
constexpr std::chrono::minutes kShortTicket{10};

std::string value_of(const std::map<std::string, std::string>& variables, const std::string& name) {
  const auto found = variables.find(name);
  return found == variables.end() ? std::string() : found->second;
}

std::string queue_name(const std::string& queue) { return base::format("queue {}", queue); }

cluster::Check check_resource_manager(const ClusterView& view) {
  std::string found = base::format("{} answers", view.address);
  if (view.release) found += base::format(", Hadoop {}", view.release->text);
  if (view.resource_managers > 1) {
    found += base::format(" (the active one of {})", view.resource_managers);
  }
  const auto old = check_release(view.release);
  if (old.ok()) return {kResourceManagerName, cluster::Verdict::kOk, std::move(found)};
  return {kResourceManagerName, cluster::Verdict::kFailed, old.error().message,
          "use a newer cluster"};
}

cluster::Check check_the_queue(const ClusterView& view, const std::string& asked) {
  const std::string leaves = base::format("{}", base::join(leaves_of(view.facts.own_queues), ", "));
  const std::string to_do =
      leaves.empty() ? base::format("ask the cluster's administrator for a queue that {} may use",
                                    view.facts.user)
                     : base::format("choose one of these with --queue: {}", leaves);
  if (view.facts.queue.name.empty()) {
    return {queue_name(asked), cluster::Verdict::kFailed,
            base::format("there is no queue {}", asked), to_do};
  }
  const auto good = check_queue(view.facts);
  if (!good.ok())
    return {queue_name(asked), cluster::Verdict::kFailed, good.error().message, to_do};
  const hadoop::QueueInfo& queue = view.facts.queue;
  const std::string found =
      base::format("{} may submit; {}; {} run and {} wait there", view.facts.user,
                   queue_words(queue), queue.running_applications, queue.pending_applications);
  return {queue_name(asked), cluster::Verdict::kOk, found};
}

std::string labels_words(const ClusterView& view) {
  std::string words;
  for (const std::string& label : view.facts.labels) {
    words += "; " + label_words(label, view.nodes);
  }
  return words;
}

cluster::Check check_nodes(const ClusterView& view) {
  if (view.nodes.empty()) {
    return {kNodesName, cluster::Verdict::kFailed, "no node is running",
            "ask the cluster's administrator to check the NodeManagers"};
  }
  hadoop::Resource all;
  hadoop::Resource used;
  for (const hadoop::NodeReport& node : view.nodes) {
    all.memory_mib += node.capability.memory_mib;
    all.vcores += node.capability.vcores;
    used.memory_mib += node.used.memory_mib;
    used.vcores += node.used.vcores;
  }
  const std::size_t count = view.nodes.size();
  return {kNodesName, cluster::Verdict::kOk,
          base::format("{} {} with {} MiB and {} vcores, {} MiB and {} of them free{}", count,
                       count == 1 ? "runs" : "run", all.memory_mib, all.vcores,
                       std::max<std::int64_t>(all.memory_mib - used.memory_mib, 0),
                       std::max(all.vcores - used.vcores, 0), labels_words(view))};
}

cluster::Check check_largest(const ClusterView& view) {
  const auto& largest = view.facts.largest;
  const bool counts_gpus = largest.others.contains(kGpuResource);
  const std::string found =
      base::format("{}{}", resource_words(largest), counts_gpus ? "" : "; GPUs are not managed");
  if (largest.memory_mib >= kDefaultMemoryMib) return {kLargestName, cluster::Verdict::kOk, found};
  return {kLargestName, cluster::Verdict::kWarning, found,
          base::format("set a memory for each task: the default is {} MiB", kDefaultMemoryMib)};
}

}  // namespace

cluster::Check check_variables(const std::map<std::string, std::string>& variables,
                               const std::function<bool(const std::string& path)>& is_folder) {
  const std::string folder = value_of(variables, kConfFolder);
  if (folder.empty()) {
    return {kSettingsName, cluster::Verdict::kFailed, base::format("{} is not set", kConfFolder),
            base::format("export {}=/etc/hadoop/conf, or whichever folder has the cluster's "
                         "core-site.xml and yarn-site.xml",
                         kConfFolder)};
  }
  std::vector<std::string> wrong;
  std::vector<std::string> unset;
  for (const char* name : kFoldersOfHadoop) {
    const std::string value = value_of(variables, name);
    if (value.empty()) unset.emplace_back(name);
    if (!value.empty() && !is_folder(value)) wrong.push_back(base::format("{}={}", name, value));
  }
  if (!is_folder(folder)) {
    return {kSettingsName, cluster::Verdict::kFailed,
            base::format("{}={} is not a folder", kConfFolder, folder),
            "set it to the folder with the cluster's core-site.xml and yarn-site.xml"};
  }
  std::string found = base::format("{}={}", kConfFolder, folder);
  if (!wrong.empty()) {
    return {kSettingsName, cluster::Verdict::kWarning,
            base::format("{}; no folder: {}", found, base::join(wrong, ", ")),
            "correct or unset them: programs that load Java will not find it"};
  }
  if (!unset.empty()) {
    found += base::format("; not set, and not needed by gangrun: {}", base::join(unset, ", "));
  }
  return {kSettingsName, cluster::Verdict::kOk, std::move(found)};
}

std::string missing_for_libhdfs(const std::map<std::string, std::string>& variables) {
  constexpr std::array<std::pair<const char*, const char*>, 4> kNeeded{
      {{"JAVA_HOME", ""},
       {"HADOOP_HDFS_HOME", " (below which lib/native/libhdfs.so is)"},
       {"CLASSPATH", " ($($HADOOP_HDFS_HOME/bin/hadoop classpath --glob))"},
       {"LD_LIBRARY_PATH", " ($JAVA_HOME/lib/server, where libjvm.so is)"}}};
  std::vector<std::string> missing;
  for (const auto& [name, hint] : kNeeded) {
    if (value_of(variables, name).empty()) missing.push_back(std::string(name) + hint);
  }
  return base::format("{}", base::join(missing, ", "));
}

std::vector<cluster::Check> checks_of(const ClusterView& view, const std::string& asked) {
  return {check_resource_manager(view), check_the_queue(view, asked), check_nodes(view),
          check_largest(view)};
}

std::vector<cluster::Check> checks_without_answer(const base::Error& error,
                                                  const std::string& asked) {
  const bool is_known = error.code == base::Code::kUnauthenticated;
  std::vector<cluster::Check> checks;
  checks.push_back({kResourceManagerName, cluster::Verdict::kFailed, error.message,
                    is_known ? std::string(kLogIn)
                             : "check that yarn.resourcemanager.address (of a pair, "
                               "yarn.resourcemanager.hostname.ID) in yarn-site.xml is right, that "
                               "it runs, and that no firewall blocks the way"});
  for (const std::string& name :
       {queue_name(asked), std::string(kNodesName), std::string(kLargestName)}) {
    checks.push_back({name, cluster::Verdict::kNotChecked, "the ResourceManager does not answer"});
  }
  return checks;
}

cluster::Check check_ticket(const std::string& principal,
                            const base::Result<std::chrono::seconds>& left) {
  if (!left.ok()) {
    return {kTicketName, cluster::Verdict::kFailed, left.error().message, "kinit " + principal};
  }
  const std::string found =
      base::format("of {}, good for {}", principal, base::to_words(base::Duration(*left)));
  if (*left >= kShortTicket) return {kTicketName, cluster::Verdict::kOk, found};
  return {kTicketName, cluster::Verdict::kWarning, found,
          base::format("renew it: kinit -R, or kinit {}", principal)};
}

std::string to_do_about_hdfs(const base::Error& error, const std::string& user) {
  switch (error.code) {
    case base::Code::kPermissionDenied:
      return base::format(
          "ask the cluster's administrator for a folder that {} may write to; HADOOP_USER_NAME "
          "sets the user",
          user);
    case base::Code::kUnauthenticated: return std::string(kLogIn);
    case base::Code::kResourceExhausted: return "free some room there, or ask for more quota";
    case base::Code::kUnavailable:
    case base::Code::kDeadlineExceeded:
      return "check that dfs.namenode.http-address (in hdfs-site.xml) is right, that NameNode and "
             "DataNodes run, and that no firewall blocks their HTTP ports";
    default: return "show this message to the cluster's administrator";
  }
}

}  // namespace gangrun::yarn
