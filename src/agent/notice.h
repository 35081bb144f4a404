#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "job/spec.h"

namespace gangrun::agent {

// A command that ends so long after the deadline of its notice still ends because of it: the place
// may take its time.
inline constexpr std::chrono::seconds kNoticeSlack{10};

// How the user's command learns that its place may take it away: by a file with the time, which is
// there first, and by a signal to who catches it.
class TaskNotice {
 public:
  TaskNotice(base::Logger& logger, std::string file, job::NoticeSignal signal);

  [[nodiscard]] const std::string& file() const { return file_; }
  // Told again, the file has the new time, and nobody gets another signal before the old one. Where
  // no time is known each one is told, and a command that ends ends by itself.
  void tell(std::optional<std::chrono::milliseconds> left, base::Instant now,
            base::WallTime wall_now, const std::vector<pid_t>& processes);
  // Before a run: what an old notice left is removed; one that counts is for this run too.
  void begin_run(base::Instant now);
  // Whether an end now follows a notice.
  [[nodiscard]] bool is_pending(base::Instant now) const;

 private:
  base::Logger& logger_;
  const std::string file_;
  const job::NoticeSignal signal_;
  std::optional<base::Instant> deadline_;
};

}  // namespace gangrun::agent
