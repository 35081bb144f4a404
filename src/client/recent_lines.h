#pragma once

#include <deque>
#include <string>
#include <vector>

#include "cluster/site.h"
#include "job/task_id.h"

namespace gangrun::client {

// The lines of tasks that a user has seen last, so that they need not be told again.
class RecentLines {
 public:
  static constexpr std::size_t kMost = 60;            // some two screens
  static constexpr std::size_t kLongest = 4U << 10U;  // bytes; longer ones are not remembered

  void add(const std::vector<cluster::LogLine>& lines);
  // Whether all of these lines of this task are among them.
  [[nodiscard]] bool have(const job::TaskId& task, const std::vector<std::string>& lines) const;

 private:
  std::deque<cluster::LogLine> lines_;
};

}  // namespace gangrun::client
