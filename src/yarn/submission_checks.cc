#include "yarn/submission_checks.h"

#include <algorithm>

#include "base/format.h"
#include "base/strings.h"
#include "yarn/yarn_options.h"

namespace gangrun::yarn {

namespace {

using base::Result;

// The first release that knows placement constraints and mounts of its containers. An older one
// drops them unread.
constexpr int kAddedMajor = 3;
constexpr int kAddedMinor = 1;

constexpr const char* kRootQueue = "root";

bool contains(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::string allowed(const std::vector<std::string>& names) {
  return names.empty() ? std::string("none") : base::format("{}", base::join(names, ", "));
}

base::Error over(const std::string& who, const std::string& what, std::int64_t asked,
                 std::int64_t largest, const std::string& unit) {
  return base::invalid_argument(
      base::format("{}: {} {}{} is more than the cluster gives to one container; allowed: up to "
                   "{}{}",
                   who, what, asked, unit, largest, unit));
}

Result<> check_resource(const ClusterFacts& facts, const std::string& who,
                        const hadoop::Resource& asked) {
  const hadoop::Resource& largest = facts.largest;
  if (asked.memory_mib > largest.memory_mib) {
    return over(who, "memory", asked.memory_mib, largest.memory_mib, " MiB");
  }
  if (asked.vcores > largest.vcores) {
    return over(who, "vcores", asked.vcores, largest.vcores, "");
  }
  for (const auto& [name, count] : asked.others) {
    if (count == 0) continue;
    std::vector<std::string> known;
    for (const auto& type : facts.resource_types) known.push_back(type.name);
    // YARN drops what it does not know without a word.
    if (!contains(known, name)) {
      return base::invalid_argument(base::format(
          "{}: resource {} is not known to the cluster; allowed: {}", who, name, allowed(known)));
    }
    const auto most = largest.others.find(name);
    const std::int64_t limit = most == largest.others.end() ? 0 : most->second;
    if (count > limit) return over(who, name, count, limit, "");
  }
  return {};
}

Result<> check_label(const ClusterFacts& facts, const std::string& who,
                     const std::optional<std::string>& label) {
  if (!label || label->empty()) return {};
  if (!contains(facts.labels, *label)) {
    return base::invalid_argument(
        base::format("{}: label {} is not known to the cluster; allowed: {}", who, *label,
                     allowed(facts.labels)));
  }
  const auto& permitted = facts.queue.labels;
  if (contains(permitted, *label) || contains(permitted, "*")) return {};
  return base::invalid_argument(
      base::format("{}: label {} is not open to queue {}; allowed there: {}", who, *label,
                   facts.queue.name, allowed(permitted)));
}

Result<> check_what_was_added(const ClusterFacts& facts, const std::string& what) {
  if (!facts.release || facts.release->is_at_least(kAddedMajor, kAddedMinor)) return {};
  return base::invalid_argument(base::format("{} Hadoop {}.{} or newer; the cluster runs Hadoop {}",
                                             what, kAddedMajor, kAddedMinor, facts.release->text));
}

Result<> check_placement(const ClusterFacts& facts, const std::string& who) {
  GANGRUN_TRY(check_what_was_added(facts, who + ": one_per_node needs"));
  if (facts.places_by_constraints) return {};
  return base::invalid_argument(base::format(
      "{}: one_per_node needs a cluster whose "
      "yarn.resourcemanager.placement-constraints.handler is placement-processor or scheduler",
      who));
}

}  // namespace

std::vector<std::string> leaves_of(const std::vector<std::string>& queues) {
  std::vector<std::string> leaves;
  for (const std::string& queue : queues) {
    const bool is_parent =
        queue == kRootQueue ||
        std::any_of(queues.begin(), queues.end(), [below = queue + "."](const std::string& other) {
          return other.starts_with(below);
        });
    if (!is_parent) leaves.push_back(queue);
  }
  return leaves;
}

Result<> check_release(const std::optional<hadoop::Release>& release) {
  if (!release || release->is_at_least(hadoop::kOldestMajor, hadoop::kOldestMinor)) return {};
  return base::invalid_argument(
      base::format("the cluster runs Hadoop {}; gangrun needs {}.{} or newer", release->text,
                   hadoop::kOldestMajor, hadoop::kOldestMinor));
}

Result<> check_queue(const ClusterFacts& facts) {
  const std::string& name = facts.queue.name;
  if (!facts.queue.children.empty()) {
    std::vector<std::string> leaves;
    for (const auto& child : facts.queue.children) leaves.push_back(child.name);
    return base::invalid_argument(
        base::format("yarn.queue: {} has queues below it and takes no jobs itself; allowed: {}",
                     name, allowed(leaves)));
  }
  if (!facts.queue.is_running) {
    return base::invalid_argument(
        base::format("yarn.queue: {} is stopped and takes no jobs", name));
  }
  // Hadoop 3.3 does not tell a queue's path, but names the own ones by theirs.
  const bool has_path = !facts.queue.path.empty();
  const bool is_permitted =
      std::any_of(facts.own_queues.begin(), facts.own_queues.end(), [&](const std::string& own) {
        return own == name || (has_path ? own == facts.queue.path : own.ends_with("." + name));
      });
  if (is_permitted) return {};
  return base::invalid_argument(base::format("yarn.queue: {} may not submit to {}; allowed: {}",
                                             facts.user, name,
                                             allowed(leaves_of(facts.own_queues))));
}

Result<> check_against(const ClusterFacts& facts, const job::JobSpec& spec) {
  GANGRUN_TRY(check_queue(facts));
  GANGRUN_TRY(check_resource(facts, "yarn.master", resource_of(yarn_of(spec).master)));
  GANGRUN_TRY(check_label(facts, "yarn.master", yarn_of(spec).master_label));
  if (facts.runs_images && !spec.mounts.empty()) {
    GANGRUN_TRY(check_what_was_added(facts, "mounts: in YARN's container runtime they need"));
  }
  for (const job::TaskSpec& task : spec.tasks) {
    for (int index = 0; index < task.slots(); ++index) {
      GANGRUN_TRY(check_resource(facts, job::to_string(job::TaskId{task.type, index}),
                                 resource_of(task.resources_of(index))));
    }
    GANGRUN_TRY(check_label(facts, task.type, task.label));
    if (task.one_per_node) GANGRUN_TRY(check_placement(facts, task.type));
  }
  return {};
}

}  // namespace gangrun::yarn
