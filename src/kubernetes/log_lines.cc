#include "kubernetes/log_lines.h"

#include <algorithm>
#include <utility>

#include "base/letters.h"

namespace gangrun::kubernetes {

namespace {

constexpr std::size_t kShortestTime = 20;  // "2026-01-31T12:00:00Z"
constexpr std::size_t kLongestTime = 35;   // with nanoseconds and "+01:00"

// Empty where the line does not begin with one: the kubelet's own words have none.
std::string_view time_of(std::string_view line) {
  const std::string_view word = line.substr(0, std::min(line.find(' '), kLongestTime + 1));
  if (word.size() < kShortestTime || word.size() > kLongestTime) return {};
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd";
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool fits = kForm[i] == 'd' ? base::is_digit(word[i]) : word[i] == kForm[i];
    if (!fits) return {};
  }
  constexpr std::string_view kRest = "0123456789.:+-Z";
  if (word.find_first_not_of(kRest, kForm.size()) != std::string_view::npos) return {};
  return word;
}

}  // namespace

bool LogLines::tell(std::string_view line, const OnLine& on_line) {
  if (!time_.empty()) return on_line(time_, line);
  const std::string_view time = time_of(line);
  if (!time.empty()) line.remove_prefix(std::min(line.size(), time.size() + 1));
  return on_line(time, line);
}

bool LogLines::put(std::string_view piece, const OnLine& on_line) {
  while (!piece.empty()) {
    const std::size_t room = kMaxLogLineBytes - line_.size();
    const std::size_t end = piece.substr(0, room + 1).find('\n');
    if (end == std::string_view::npos && piece.size() <= room) {
      line_ += piece;
      break;
    }
    const bool is_whole = end != std::string_view::npos;
    const std::size_t taken = is_whole ? end : room;
    std::string held = std::exchange(line_, {});
    std::string_view line = piece.substr(0, taken);
    if (!held.empty()) line = held += line;
    piece.remove_prefix(is_whole ? taken + 1 : taken);
    if (is_whole && line.ends_with('\r')) line.remove_suffix(1);
    const std::string time(time_.empty() ? time_of(line) : std::string_view(time_));
    if (!tell(line, on_line)) return false;
    time_ = is_whole ? "" : time;
  }
  return true;
}

bool LogLines::finish(const OnLine& on_line) {
  if (line_.empty()) return true;
  const std::string line = std::exchange(line_, {});
  return tell(line, on_line);
}

}  // namespace gangrun::kubernetes
