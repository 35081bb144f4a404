#pragma once

#include <optional>
#include <vector>

#include "job/ends.h"
#include "job/task_id.h"

namespace gangrun::agents {

// Failures that may be for want of an agent that its place takes away and has not told of yet. They
// wait until the place has looked, so that such a loss is told before them. A look that began
// before a failure may be too early for it: that one waits for the next. Pure.
class HeldFailures {
 public:
  void hold(job::Exited failure);
  // A look begins, for all that are held.
  void look_begins();
  // It is over: these wait no longer. In their order.
  std::vector<job::Exited> look_ended();
  // Whether some are held, and no look is under way.
  [[nodiscard]] bool need_look() const { return !is_looking_ && !held_.empty(); }
  // The failure of this task waits no longer; none: it has none.
  std::optional<job::Exited> take(const job::TaskId& task);

 private:
  struct Held {
    job::Exited failure;
    bool is_looked_for = false;
  };

  bool is_looking_ = false;
  std::vector<Held> held_;
};

}  // namespace gangrun::agents
