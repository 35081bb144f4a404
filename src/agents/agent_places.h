#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/json.h"
#include "cluster/tasks.h"
#include "job/cluster_spec.h"
#include "job/task_id.h"
#include "net/client.h"
#include "wire/messages.h"

namespace gangrun::agents {

// The places of the tasks' agents, as the journal has them: what a place needs to find its agent
// again, and, if the agent can be told of a new master, the address for that.
class AgentPlaces {
 public:
  // An agent is requested, or was left by an earlier master with what is known of it.
  void expect(const job::TaskId& task, int attempt, base::Json handle = {});
  // It was started; what is to be recorded of it.
  cluster::Whereabouts started(const job::TaskId& task, int attempt, base::Json handle);
  // It has a session, and said where it can be told of a new master; none: the journal has it
  // already, or it said nothing.
  std::optional<cluster::Whereabouts> reported(const job::TaskId& task, const job::Address& address,
                                               const std::optional<wire::ControlAddress>& control);

  // The name of YARN's container; empty: nobody named one.
  [[nodiscard]] std::string container_of(const job::TaskId& task) const;
  // The addresses at which agents can be told of a new master, of those that can.
  [[nodiscard]] std::map<job::TaskId, net::Endpoint> controls() const;

 private:
  std::map<job::TaskId, cluster::Whereabouts> places_;
};

}  // namespace gangrun::agents
