#pragma once

#include <string>
#include <string_view>

#include "job/spec.h"
#include "kubernetes/pods/manifests.h"

namespace gangrun::kubernetes::pods {

// Tells in which folders the commands of the job's pods begin, and what becomes of what they write
// there.
std::string where_pods_work(const Manifests& manifests);

// The things that a task has elsewhere and not in a pod without an agent.
std::string what_pods_lack();
// The things that a job without agents is without; the end of a sentence.
std::string_view what_agents_bring();
// How agents come into them, and why so.
std::string way_of_agents(const job::JobSpec& spec);
// The same, and what that takes: with `is_detached`, a master in a pod.
std::string how_agents_come(const Manifests& manifests, bool is_detached = false);

// Says that some may run while others have no node, and are ended again; empty: their scheduler
// places them all or none.
std::string when_pods_begin(const Manifests& manifests);

}  // namespace gangrun::kubernetes::pods
