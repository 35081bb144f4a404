#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "job/task_id.h"

namespace gangrun::registry {

// What a master keeps of its tasks' output for clients on other machines; the oldest lines go
// first. An answer holds at most so much of it.
inline constexpr std::size_t kMaxKeptLineBytes = std::size_t{4} << 20U;
inline constexpr std::size_t kMaxLinesAnswerBytes = std::size_t{512} << 10U;

struct KeptLine {
  job::TaskId task;
  bool is_error = false;
  std::string text;
  std::optional<base::WallTime> time{};  // when it came; none: the master is an older one

  friend bool operator==(const KeptLine&, const KeptLine&) = default;
};

struct KeptLines {
  std::int64_t next = 0;    // to be asked for next
  std::int64_t missed = 0;  // lines that were asked for and are not kept any more
  std::vector<KeptLine> lines;

  friend bool operator==(const KeptLines&, const KeptLines&) = default;
};

// The last lines of all tasks, numbered from 0 in the order in which they came.
class LineStore {
 public:
  void add(const job::TaskId& task, bool is_error, std::string_view text,
           std::optional<base::WallTime> time = {});
  // From number `from` on.
  [[nodiscard]] KeptLines from(std::int64_t from) const;
  // The number of the next line.
  [[nodiscard]] std::int64_t next() const {
    return first_ + static_cast<std::int64_t>(lines_.size());
  }

 private:
  std::int64_t first_ = 0;
  std::size_t bytes_ = 0;
  std::deque<KeptLine> lines_;
};

base::Json to_json(const KeptLines& lines);
base::Result<KeptLines> kept_lines_from_json(const base::Json& json);

}  // namespace gangrun::registry
