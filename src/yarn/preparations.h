#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "hadoop/records.h"
#include "job/task_id.h"

namespace gangrun::yarn {

// Before a node is first asked for a container that it has taken on, and between two times.
inline constexpr base::seconds kPreparationLook(3);
// The most containers of one node, at a time.
inline constexpr std::size_t kMaxAskedContainers = 200;

// Containers that their nodes have taken on and not started yet, as they fetch and unpack what the
// job brings: an agent there cannot report. Which node is to be asked when, and what is known.
// Pure.
class Preparations {
 public:
  // The names of the job's archives. Without any nothing takes long, and nobody is asked.
  explicit Preparations(std::set<std::string> archives) : archives_(std::move(archives)) {}

  void taken_on(const hadoop::ContainerId& id, const job::TaskId& task, const hadoop::NodeId& node,
                base::Instant now);
  // Nobody waits for it any more.
  void forget(const hadoop::ContainerId& id) { containers_.erase(id); }

  // When take_look() has something; none: there is nothing to ask.
  [[nodiscard]] std::optional<base::Instant> next_look() const;
  // The node to ask now, and for which containers.
  std::map<hadoop::NodeId, std::vector<hadoop::ContainerId>> take_look(base::Instant now);
  // Takes the node's answer. A container that the node has started, or does not know, is over.
  void told(const std::vector<hadoop::ContainerId>& asked,
            const base::Result<std::vector<hadoop::ContainerStatus>>& statuses);

  // "nodes still fetch and unpack env.tar.gz for worker:0 on h1 (2 of 3 files there), worker:1
  // on h2"; empty: none is known to.
  [[nodiscard]] std::string words() const;

 private:
  struct Container {
    job::TaskId task;
    hadoop::NodeId node;
    base::Instant look_at;
    bool is_being_prepared = false;  // as its node has said
    std::string progress{};          // the same; empty: it does not tell
  };

  std::set<std::string> archives_;
  std::map<hadoop::ContainerId, Container> containers_;
};

}  // namespace gangrun::yarn
