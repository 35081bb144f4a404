#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "agents/agents.h"
#include "base/clock.h"
#include "base/result.h"
#include "host/job_folder.h"
#include "host/job_master.h"
#include "host/local_launch.h"
#include "job/spec.h"
#include "net/event_loop.h"

namespace gangrun::host {

// The parts that tasks are made of, for a master of this machine. All outlive the tasks.
struct BackendInput {
  const Ground& ground;
  const JobFolder& folder;
  const job::JobSpec& spec;
  const LocalLaunch& launch;
  // Whether the tasks go on when this process is killed, until their lease is over.
  bool tasks_outlive_us = false;
};

// For agents that come by the master's socket and write their logs to the job's folder.
agents::AgentsOptions agents_options(const BackendInput& input);
// The same, for those that come by TLS.
agents::AgentsOptions agents_by_tls(const BackendInput& input);
// The remarks that the launch has for the job's user from the beginning.
std::vector<std::string> remarks_of(const LocalLaunch& launch);

// The services of a place for a master that runs in a process of this machine. The backend outlives
// the master.
class Backend {
 public:
  virtual ~Backend() = default;
  // Looks at the place before anything of the job is made, here or there; may run the loop, which
  // outlives this. kInvalidArgument: the input is at fault. kCancelled: `is_cancelled` has become
  // true in the loop, which ends this at once.
  virtual base::Result<> reach(net::EventLoop& /*loop*/, const base::Clock& /*clock*/,
                               const job::JobSpec& /*spec*/,
                               const std::function<bool()>& /*is_cancelled*/) {
    return {};
  }
  // How long tasks go on without their master unless the job sets it.
  [[nodiscard]] virtual std::chrono::milliseconds master_lost(const job::JobSpec& spec,
                                                              bool tasks_outlive_us) const = 0;
  virtual base::Result<MadeTasks> make_tasks(const BackendInput& input) = 0;
  // Whoever ends the job does not wait for what is silent: the place is asked whether it answers.
  virtual void hurry(net::EventLoop& /*loop*/) {}
  // Says who cannot be told the end of the job, as nobody has answered since hurry(), what may be
  // left there, and how to end it; empty: the place answers, or tells the master who does not.
  [[nodiscard]] virtual std::string silent() const { return {}; }
  // Takes away what the job has left at the place, once it has ended; may run the loop. Tells
  // people what it waits for, where that takes time. An error tells them what is still there, also
  // once nobody waits for it any more.
  virtual base::Result<> clear(net::EventLoop& /*loop*/,
                               const std::function<void(const std::string&)>& /*tell*/,
                               const std::function<bool()>& /*is_left*/) {
    return {};
  }
};

}  // namespace gangrun::host
