#pragma once

#include <optional>
#include <string>

#include "cluster/launcher.h"
#include "job/task_id.h"
#include "wire/join.h"

namespace gangrun::agents {

// A place whose tasks connect by themselves. Called on the loop's thread.
class Joining : public cluster::Launcher {
 public:
  virtual wire::JoinAnswer join(const wire::JoinRequest& request) = 0;
  // The agent of this task has a session: nobody but that tells how it does. False: nobody awaits
  // it any more.
  virtual bool on_session_open(const job::TaskId& task) = 0;
  // `farewell`: it has left, and perhaps why; none: the connection broke.
  virtual void on_session_lost(const job::TaskId& task,
                               const std::optional<std::string>& farewell) = 0;
};

}  // namespace gangrun::agents
