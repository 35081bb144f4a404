#pragma once

#include <map>
#include <optional>
#include <utility>

#include "base/json.h"
#include "gang/gang.h"
#include "job/cluster_spec.h"
#include "job/task_id.h"
#include "journal/record.h"
#include "net/client.h"
#include "registry/messages.h"

namespace gangrun::master {

// Where each agent is, in the words of the journal: what the cluster needs to find it again, and,
// where the agent can be told of a new master, by which address. By task and the attempt for which
// the agent was started.
class AgentPlaces {
 public:
  using Places = std::map<std::pair<job::TaskId, int>, base::Json>;

  explicit AgentPlaces(Places past);

  // The agent was started; what is to be recorded of it.
  journal::PlaceRecord started(const job::TaskId& task, int attempt, base::Json handle);
  // It has a session, and said where it can be told of a new master; none: the journal has it
  // already, or it said nothing.
  std::optional<journal::PlaceRecord> reported(
      const gang::Task& task, const job::Address& address,
      const std::optional<registry::ControlAddress>& control);

  // What the cluster gave for the task's present agent; null where that is not known.
  [[nodiscard]] base::Json handle(const gang::Task& task) const;
  // Where those agents that have not ended can be told of a new master, as far as they can.
  [[nodiscard]] std::map<job::TaskId, net::Endpoint> controls(const gang::Gang& gang) const;

 private:
  Places places_;
};

}  // namespace gangrun::master
