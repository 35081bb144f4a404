#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace gangrun::kubernetes {

// A longer line is told in pieces of this size, each with the line's time.
inline constexpr std::size_t kMaxLogLineBytes = std::size_t{1024} * 1024;

// The lines of a container's log that was requested with its times ("2026-01-31T12:00:00.123456789Z
// text"), from its bytes.
class LogLines {
 public:
  // The views are valid during the call. False: nothing more is told, not of this piece either.
  using OnLine = std::function<bool(std::string_view time, std::string_view text)>;

  // False where `on_line` said so; then these lines may be gone.
  bool put(std::string_view piece, const OnLine& on_line);
  // The end: a last line without its end is told.
  bool finish(const OnLine& on_line);

 private:
  bool tell(std::string_view line, const OnLine& on_line);

  std::string line_;  // the beginning of one, with its time
  std::string time_;  // of a line that is told in pieces; empty: of none
};

}  // namespace gangrun::kubernetes
