#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "client/task_agent.h"
#include "job/status.h"
#include "net/client.h"

namespace gangrun::client {

// How connections to a port of 127.0.0.1 are carried to a task.
class TaskWay {
 public:
  virtual ~TaskWay() = default;
  // Whether it begins at the task's agent, which tells its address.
  [[nodiscard]] virtual bool has_agent() const = 0;
  // Takes what was found of the task (null: nothing) and its agent, again and again. Returns what
  // is still waited for; empty: the task can be reached. An error: it never can.
  virtual base::Result<std::string> take(const job::TaskStatus* task,
                                         const base::Result<TaskAgent>& agent) = 0;
  // The address at which the task's agent itself is reached from here.
  virtual base::Result<net::Endpoint> to_agent(const TaskAgent& agent) = 0;
  // The port of this machine, once the task can be reached.
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  // Whether the task listens, once it can be reached: `done` is called once, later.
  virtual void try_once(std::function<void(base::Result<>)> done) = 0;
};

}  // namespace gangrun::client
