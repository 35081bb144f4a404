#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "hadoop/records.h"
#include "job/spec.h"

namespace gangrun::yarn {

// The things for which a job waits on YARN, in words. Pure.

// "2048 MiB, 1 vcore, 1 yarn.io/gpu".
std::string resource_words(const hadoop::Resource& resource);
// The same with the node that it needs: "2048 MiB, 1 vcore, label gpu, one on a node".
std::string container_words(const hadoop::Resource& resource,
                            const std::optional<std::string>& label, bool one_per_node);
// "2 of 2048 MiB, 1 vcore; 1 of 4096 MiB, 2 vcores, label gpu".
std::string counted_words(const std::map<std::string, int>& counts);
// Those of all tasks together.
std::string asked_words(const job::JobSpec& spec);
// The node labels that the job's tasks name.
std::set<std::string> labels_of(const job::JobSpec& spec);
// "queue ml has 4096 MiB and 2 vcores left".
std::string queue_words(const hadoop::QueueInfo& queue);
// "label gpu has 4096 MiB and 2 vcores left on 3 nodes".
std::string label_words(const std::string& label, const std::vector<hadoop::NodeReport>& nodes);
// The names of the archives that the job brings, and what nodes do before an agent there can
// report; empty: there are none. "nodes that do not have env.tar.gz yet fetch and unpack it
// before".
std::set<std::string> archives_of(const job::JobSpec& spec);
std::string unpacking_words(const job::JobSpec& spec);
// As long as the application has no master.
std::string waiting_words(const hadoop::ApplicationReport& report, int ahead_in_queue);
// Whether the nodes are still to put together the logs of an ended application. One that ended a
// while ago without a word of it has none, or a ResourceManager that has forgotten.
bool awaits_logs(const hadoop::ApplicationReport& report, base::WallTime now);
// YARN's own diagnostics: on one line, without when it said them and without its whole bookkeeping.
std::string words_of_yarn(const std::string& diagnostics);

}  // namespace gangrun::yarn
