#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_times.h"
#include "base/unique_fd.h"

namespace gangrun::cluster {

// Of one stream of one task; what comes later is not written, and a line says so.
inline constexpr std::uint64_t kMaxLineFileBytes = std::uint64_t{1} << 30U;
// Files that stay open; the others are opened for each line.
inline constexpr std::size_t kMaxOpenLineFiles = 256;

// The tasks' output in files on this host, where they themselves are on others and write none here.
// What cannot be written is told once for each file, and counted: the job goes on.
class LineFiles {
 public:
  explicit LineFiles(base::Logger& logger, std::uint64_t max_bytes = kMaxLineFileBytes)
      : logger_(logger), max_bytes_(max_bytes) {}

  // To `prefix` + ".out" or ".err". A progress bar, which ends in a carriage return, goes on in the
  // file, as it did where the task wrote it.
  void add(const std::string& prefix, bool is_error, std::string_view line, base::WallTime time);
  [[nodiscard]] std::uint64_t lost_lines() const { return lost_lines_; }
  // For people, who have been told of the job's end with some lost.
  [[nodiscard]] std::string words_for_lost_lines() const;

 private:
  struct File {
    base::UniqueFd fd;
    std::uint64_t bytes = 0;
    bool failed = false;
    bool full = false;
    std::optional<base::LogTimes> times{};
  };

  void write(File& file, const std::string& path, const std::string& text, base::WallTime time);

  base::Logger& logger_;
  const std::uint64_t max_bytes_;
  std::map<std::string, File> files_;  // by path
  std::size_t open_ = 0;
  std::uint64_t lost_lines_ = 0;
};

}  // namespace gangrun::cluster
