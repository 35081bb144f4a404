#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

// When the lines of a log were written. Beside LOG lies LOG.times: lines "OFFSET MILLISECONDS", one
// for the first line that begins in a piece of the log, with the time at which that piece came.
namespace gangrun::base {

inline constexpr std::string_view kTimesSuffix = ".times";
// From one entry to the next; twice as long with each so many bytes of entries.
inline constexpr std::chrono::milliseconds kTimesPace{100};
inline constexpr std::uint64_t kTimesStep = std::uint64_t{2} << 20U;
// The most bytes of entries that are read, whoever has written them.
inline constexpr std::size_t kMaxTimesBytes = std::size_t{64} << 20U;

// Notes the times of one log while it is written.
class LogTimes {
 public:
  explicit LogTimes(const std::string& log_path)
      : log_path_(log_path), path_(log_path + std::string(kTimesSuffix)) {}

  // `text` goes to this offset of the log, now or in a moment. That its time cannot be noted (a
  // full disk) is no trouble of the log: its lines have that of an earlier one then.
  void note(std::uint64_t offset, std::string_view text, WallTime now);

 private:
  [[nodiscard]] bool begins_line(std::uint64_t offset) const;

  const std::string log_path_;
  const std::string path_;
  std::uint64_t bytes_ = 0;
  std::uint64_t end_ = 0;  // of what was noted last
  bool ends_line_ = true;  // whether that ends a line
  std::optional<WallTime> last_;
};

// Reads them, also while they are written.
class KnownTimes {
 public:
  explicit KnownTimes(const std::string& log_path) : path_(log_path + std::string(kTimesSuffix)) {}

  // The entries that have come since the last call.
  void read_on();
  // Takes the text of such a file, or the next piece of it.
  void add(std::string_view text);
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // The time of the line that begins there; none: nobody has noted it.
  [[nodiscard]] std::optional<WallTime> at(std::uint64_t offset) const;
  // The beginning of the lines of this time and later ones; none: there is none yet.
  [[nodiscard]] std::optional<std::uint64_t> since(WallTime time) const;

 private:
  const std::string path_;
  std::uint64_t read_ = 0;
  std::string part_;                                             // of an entry
  std::vector<std::pair<std::uint64_t, std::int64_t>> entries_;  // offset, milliseconds
};

}  // namespace gangrun::base
