#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_times.h"
#include "base/unique_fd.h"
#include "job/spec.h"

namespace gangrun::cluster {

// The limit for one stream of one task; what comes later is not written, and a line says so.
inline constexpr std::uint64_t kMaxLineFileBytes = std::uint64_t{1} << 30U;
// Files that stay open; the others are opened for each line.
inline constexpr std::size_t kMaxOpenLineFiles = 256;

// The most that each file gets, and how people are told that it is reached.
struct LineLimit {
  std::uint64_t bytes = kMaxLineFileBytes;
  std::string reached = "the most that is kept (1 GiB) is reached";
};
LineLimit line_limit(const job::JobSpec& spec);

// "3 lines could not be kept: log_limit (1 MiB) is reached"
std::string lost_lines_words(std::int64_t lost, std::string_view why);

// The tasks' output in files on this host, where they themselves are on others and write none here.
// What cannot be written is told once for each file, and counted: the job goes on.
class LineFiles {
 public:
  explicit LineFiles(base::Logger& logger, LineLimit limit = {})
      : logger_(logger), limit_(std::move(limit)) {}

  // To `prefix` + ".out" or ".err". A progress bar, which ends in a carriage return, goes on in the
  // file, as it did where the task wrote it. Once for each file, when it is full: why this line and
  // all after it are not kept.
  std::optional<std::string> add(const std::string& prefix, bool is_error, std::string_view line,
                                 base::WallTime time);
  // The lines of one task for which there was no room, in words; none: there were none.
  [[nodiscard]] std::optional<std::string> missing(const std::string& prefix) const;
  // The same of all tasks, with those that could not be written.
  [[nodiscard]] std::optional<std::string> missing() const;

 private:
  struct File {
    base::UniqueFd fd;
    std::uint64_t bytes = 0;
    bool failed = false;
    bool full = false;
    std::int64_t lost = 0;  // lines for which there was no room
    std::optional<base::LogTimes> times{};
  };

  void write(File& file, const std::string& path, const std::string& text, base::WallTime time);

  base::Logger& logger_;
  const LineLimit limit_;
  std::map<std::string, File> files_;  // by path
  std::size_t open_ = 0;
  std::int64_t lost_lines_ = 0;
};

}  // namespace gangrun::cluster
