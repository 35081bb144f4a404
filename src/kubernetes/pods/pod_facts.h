#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"

namespace gangrun::kubernetes::pods {

// One container of a pod as its status has it.
struct ContainerFacts {
  enum class State { kUnknown, kWaiting, kRunning, kTerminated };

  std::string name;
  std::string image;
  State state = State::kUnknown;
  // The reason for waiting or terminated: "ImagePullBackOff", "OOMKilled", and what is said of it.
  std::string reason;
  std::string message;
  int exit_code = 0;
  int signal = 0;
  bool has_run = false;  // its command runs, or did
  std::optional<base::WallTime> finished_at;

  friend bool operator==(const ContainerFacts&, const ContainerFacts&) = default;
};

// The facts of a pod that matter to its task. Texts are on one line and of limited length.
struct PodFacts {
  std::string name;
  std::string uid;
  std::string job;   // of its labels
  int attempt = 0;   // likewise
  int made_by = 0;   // likewise: the number of the master in a pod; 0: a client
  std::string node;  // empty: none yet
  std::string phase;
  // The reason in the pod's own status: "Evicted", "NodeLost", "OutOfcpu".
  std::string reason;
  std::string message;
  bool is_deleting = false;
  std::chrono::seconds deletion_grace{0};
  std::string scheduler;  // the name of the one that it asks for
  bool is_seen_by_scheduler = false;
  std::string unschedulable;  // why it has no node, in the scheduler's words
  std::string gate;           // the first gate that keeps it from schedulers; empty: none
  // Why it is taken from its node ("PreemptionByScheduler"), by the condition DisruptionTarget.
  std::string disruption;
  std::string disruption_message;
  bool is_taken_by_kueue = false;  // which has a condition of its own for that
  // The cluster hears nothing of its node: the node controller has marked it as not ready.
  bool is_node_lost = false;
  ContainerFacts task;
  std::vector<ContainerFacts> init;

  [[nodiscard]] bool is_scheduled() const { return !node.empty(); }
  [[nodiscard]] bool is_over() const { return phase == "Succeeded" || phase == "Failed"; }

  friend bool operator==(const PodFacts&, const PodFacts&) = default;
};

// Reads any JSON: what is missing, or is of another type, is as if it were not there. `container`
// is the one that runs the task's command.
PodFacts pod_facts(const base::Json& pod, std::string_view container);

// The name and the uid of an object; empty: it has none.
std::string name_of(const base::Json& object);
std::string uid_of(const base::Json& object);
// Whether its deletion has begun.
bool is_being_deleted(const base::Json& object);

// The message of the latest warning in a pod's events; empty: there is none. `events` is an
// EventList.
std::string latest_warning(const base::Json& events);

}  // namespace gangrun::kubernetes::pods
