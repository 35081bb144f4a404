#pragma once

#include <memory>

#include "agent/agent.h"
#include "base/log.h"
#include "base/result.h"
#include "job/last_words.h"
#include "net/event_loop.h"
#include "process/containment.h"
#include "wire/agent_config.h"

// An agent from its start to its end, as a process of its own.
namespace gangrun::agent {

// A part that runs beside an agent in its process, on the same loop; it outlives the agent.
class BesideAgent {
 public:
  BesideAgent() = default;
  BesideAgent(const BesideAgent&) = delete;
  BesideAgent& operator=(const BesideAgent&) = delete;
  virtual ~BesideAgent() = default;

  virtual Outputs outputs() { return {}; }
  // The agent has started.
  virtual base::Result<> start(Agent& agent) = 0;
};

// How an agent is started at one kind of place, in this order, each once.
class AgentStart {
 public:
  AgentStart() = default;
  AgentStart(const AgentStart&) = delete;
  AgentStart& operator=(const AgentStart&) = delete;
  virtual ~AgentStart() = default;

  // The guardian splits off here, before anything is read, so that it never holds the job's secret.
  virtual base::Result<process::Containment> contain() = 0;
  virtual base::Result<wire::AgentConfig> read_config(base::Logger& logger) = 0;
  virtual std::unique_ptr<BesideAgent> beside_agent(net::EventLoop& loop, base::Logger& logger,
                                                    const wire::AgentConfig& config) = 0;
  // Nothing of the task is alive.
  virtual void ended(const process::Containment&) {}
  // The agent ended for a reason that its master was not told.
  virtual void leave_words(const job::LastWords&) {}
};

// The status of the program, when the agent has ended.
int run_agent(AgentStart& start, base::Logger& logger);

}  // namespace gangrun::agent
