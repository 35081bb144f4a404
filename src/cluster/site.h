#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/described.h"
#include "base/result.h"
#include "cluster/question.h"
#include "job/cluster_spec.h"
#include "job/status.h"
#include "job/task_id.h"

namespace gangrun::cluster {

// The end of a LogLine: what stands behind its text.
enum class LineEnd {
  kNewline,
  kGoesOn,   // nothing: it is a piece, and the next one of its stream continues it
  kNone,     // nothing: the task wrote no more
  kRedrawn,  // nothing: a progress bar, which the next line of its stream replaces
};

// A line that its task redraws, by carriage returns, is given no more often than that, where nobody
// looks at it as it moves.
inline constexpr std::chrono::milliseconds kRedrawPace(2000);

// One line of a task's output, or a piece of one.
struct LogLine {
  job::TaskId task;
  bool is_error = false;  // of its standard error
  std::string text;       // as the task wrote it, without the line's end
  LineEnd end = LineEnd::kNewline;
  // When its beginning was written; none: it was not asked for, or nobody has noted it.
  std::optional<base::WallTime> time{};

  friend bool operator==(const LogLine&, const LogLine&) = default;
};

// Which lines are wanted.
struct LogRequest {
  std::optional<job::TaskId> task{};  // none: all tasks
  bool output = true;
  bool errors = true;
  // How many of the last lines that are there now, of each stream of each task; none: all.
  std::optional<std::int64_t> tail{};
  // Whether their times are wanted.
  bool times = false;
  // Only what was written at this time or later, as far as the times are known.
  std::optional<base::WallTime> since{};
  // Byte for byte: what has no end yet comes at once, as a piece.
  bool as_it_is = false;
  std::chrono::milliseconds redraw_pace = kRedrawPace;
};

// The output of a job's tasks, from its beginning on.
class LogReader {
 public:
  virtual ~LogReader() = default;
  // The lines that came since the last call, those of one stream in their order; waits for the
  // first of them until `deadline`. Empty: nothing came.
  virtual base::Result<std::vector<LogLine>> next(base::Instant deadline) = 0;
  // Lines that have no end yet; for when nothing more can come.
  virtual std::vector<LogLine> rest() = 0;
};

// The size of the result that a task has left.
struct TaskResult {
  job::TaskId task;
  std::int64_t bytes = 0;

  GANGRUN_ROWS(TaskResult, task, bytes);

  friend bool operator==(const TaskResult&, const TaskResult&) = default;
};

// A job in a list. Of one whose records cannot be read only its id and folder are known, and when
// it was submitted.
struct ListedJob {
  job::JobStatus status;
  std::string unreadable{};  // why; empty: it is not
  // Why this is only its last status that is recorded, and from when; empty: it is that of now.
  std::string silence{};
};

using ResultSink = std::function<base::Result<>(std::string_view piece)>;

// One job, as its place tells of it. Every call is bounded in time.
class Job {
 public:
  virtual ~Job() = default;
  // Its whole id.
  [[nodiscard]] virtual std::string id() const = 0;
  virtual base::Result<job::JobStatus> status() = 0;
  // Its last status that is recorded here, which may be old, for when status() is kUnavailable.
  // None where it is not recorded.
  virtual std::optional<job::JobStatus> recorded_status() { return std::nullopt; }
  virtual base::Result<std::unique_ptr<LogReader>> logs(const LogRequest& request) = 0;
  // This generation of the job's cluster spec, or a later one, as soon as it is complete;
  // kDeadlineExceeded or, where the job has no master yet, kUnavailable when that is not before
  // `deadline`.
  virtual base::Result<job::ClusterSpec> cluster_spec(int generation, base::Instant deadline) = 0;
  // Asks for the job's end and returns; at_once: without any grace. kFailedPrecondition where it
  // has ended already.
  virtual base::Result<> stop(bool at_once, const std::string& by) = 0;
  // For a job of which stop() says kUnavailable: ends it at once, whether or not its master
  // answers, and says how. None: this place cannot, and the error of stop() is all that there is to
  // say.
  virtual base::Result<std::optional<std::string>> stop_without_answer(const std::string& /*by*/) {
    return std::nullopt;
  }
  // Asks tasks of the job, for as long as the question's limit allows and not much longer.
  virtual base::Result<Answer> ask(const Question& question) = 0;
  // The results that are there now, in the order of the tasks.
  virtual base::Result<std::vector<TaskResult>> results() = 0;
  // The same, piece by piece; an error of the sink is passed on. kNotFound where the task has left
  // none.
  virtual base::Result<> read_result(const job::TaskId& task, const ResultSink& sink) = 0;
  // Waits until the job has changed or `deadline`, whichever is first. May return early.
  virtual base::Result<> wait_for_change(base::Instant deadline) = 0;
  // For a job whose master has told its end: waits until the cluster knows it too, so that
  // Site::list() has it as ended, or until `deadline`. Nothing to wait for where both are told from
  // one record.
  virtual base::Result<> wait_for_cluster(base::Instant /*deadline*/) { return {}; }
};

// The jobs of a place, to be found again. Every call is bounded in time.
class Site {
 public:
  virtual ~Site() = default;
  // All jobs that are known here, the newest first; the tasks of ended ones may be left out.
  virtual base::Result<std::vector<ListedJob>> list() = 0;
  // The job of this id, of the unambiguous beginning of one, or "last"; it may outlive the site.
  // kNotFound where no job, or more than one, is meant.
  virtual base::Result<std::unique_ptr<Job>> find(std::string_view name) = 0;
};

}  // namespace gangrun::cluster
