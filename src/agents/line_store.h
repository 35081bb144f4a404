#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "job/task_id.h"
#include "wire/rest_bodies.h"

namespace gangrun::agents {

// The limit for the tasks' output that a master keeps for clients on other machines; the oldest
// lines go first. An answer holds at most so much of it.
inline constexpr std::size_t kMaxKeptLineBytes = std::size_t{4} << 20U;
inline constexpr std::size_t kMaxLinesAnswerBytes = std::size_t{512} << 10U;

// The last lines of all tasks, numbered from 0 in the order in which they came.
class LineStore {
 public:
  void add(const job::TaskId& task, bool is_error, std::string_view text,
           std::optional<base::WallTime> time = {});
  // From number `from` on.
  [[nodiscard]] wire::KeptLines from(std::int64_t from) const;
  // The number of the next line.
  [[nodiscard]] std::int64_t next() const {
    return first_ + static_cast<std::int64_t>(lines_.size());
  }

 private:
  std::int64_t first_ = 0;
  std::size_t bytes_ = 0;
  std::deque<wire::KeptLine> lines_;
};

}  // namespace gangrun::agents
