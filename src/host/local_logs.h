#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log_times.h"
#include "base/unique_fd.h"
#include "cluster/site.h"

namespace gangrun::host {

// Bytes of one file that are read at once.
inline constexpr std::size_t kLogBlock = std::size_t{64} << 10U;
// A line that is longer comes in pieces of about that size.
inline constexpr std::size_t kMaxWholeLine = std::size_t{1} << 20U;
// The size of the lines that one call of next() returns.
inline constexpr std::size_t kMaxBatchBytes = std::size_t{1} << 20U;

// Reads the growing files in a job's log folder. Files are opened only while they are read, so a
// job may have more tasks than we may have descriptors.
class LocalLogs final : public cluster::LogReader {
 public:
  // `tasks` with their log_path, all in `folder`. Files may appear later.
  static base::Result<std::unique_ptr<LocalLogs>> open(const std::string& folder,
                                                       const std::vector<job::TaskStatus>& tasks,
                                                       const cluster::LogRequest& request);

  base::Result<std::vector<cluster::LogLine>> next(base::Instant deadline) override;
  std::vector<cluster::LogLine> rest() override;

  // From now on the kernel tells of changes, where it can; a next() that waits begins with it. The
  // watch's own end takes the kernel up to 20 ms (it waits until no processor uses it any more), so
  // whoever reads a job's first moments looks by itself.
  void watch();
  // Readable when next() may have something; for the caller's loop. -1 where nothing is watched, or
  // the kernel tells nothing: then next() is to be called now and then.
  [[nodiscard]] int changed_fd() const { return notify_.get(); }

 private:
  struct Source {
    job::TaskId task;
    bool is_error = false;
    std::string path;
    std::int64_t offset = 0;
    std::string partial;   // a line whose end is not there yet
    bool goes_on = false;  // pieces of it have been given
    // When the partial line, which is drawn again, is to be given as it is then.
    std::optional<base::Instant> redraw_at{};
    // The times of its lines, if they are wanted; and where the partial one begins.
    std::optional<base::KnownTimes> times{};
    std::int64_t line_start = 0;
    bool queued = false;
    bool removed = false;  // somebody has taken the file away
  };

  LocalLogs() = default;
  void add(const job::TaskStatus& task, bool is_error);
  static base::Result<> seek(Source& source, const cluster::LogRequest& request);
  static std::optional<base::WallTime> time_of(const Source& source);
  void queue(std::size_t index);
  void queue_all();
  static void begin_again(Source& source, std::vector<cluster::LogLine>& lines);
  static void give_piece(Source& source, std::size_t bytes, std::vector<cluster::LogLine>& lines);
  void read_notifications();
  std::optional<base::Instant> give_redrawn(base::Instant now,
                                            std::vector<cluster::LogLine>& lines);
  base::Result<> read_queued(std::vector<cluster::LogLine>& lines);
  base::Result<bool> read_block(Source& source, std::vector<cluster::LogLine>& lines,
                                std::size_t& bytes);

  bool as_it_is_ = false;
  std::chrono::milliseconds redraw_pace_ = cluster::kRedrawPace;
  std::string folder_;
  bool is_watch_tried_ = false;
  base::UniqueFd notify_;
  std::vector<Source> sources_;
  std::map<std::string, std::size_t> by_name_;
  std::deque<std::size_t> queue_;
};

// The position at which the last `lines` lines of a file begin.
base::Result<std::int64_t> offset_of_tail(const std::string& path, std::int64_t lines);

}  // namespace gangrun::host
