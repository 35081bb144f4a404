#include "process/traceback.h"

#include <cstddef>
#include <string_view>

#include "base/format.h"

namespace gangrun::process {

namespace {

constexpr std::string_view kHeading = "Traceback (most recent call last):";

// Python's words between two tracebacks of one chain.
bool joins_chain(std::string_view line) {
  return line == "During handling of the above exception, another exception occurred:" ||
         line == "The above exception was the direct cause of the following exception:";
}

struct Block {
  std::size_t begin = 0;
  std::size_t end = 0;  // after the line with the exception
};

// The text before the last heading; none if there is no heading. Python prints nothing but
// blanks there, but launchers put a rank or a time before each line.
std::optional<std::string_view> prefix_of_last(const std::vector<std::string>& lines) {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const std::string_view text = *line;
    if (!text.ends_with(kHeading)) continue;
    const std::string_view prefix = text.substr(0, text.size() - kHeading.size());
    // "  + Exception Group Traceback …": the heading of a group is no prefix.
    if (prefix.ends_with("Group ")) continue;
    return prefix;
  }
  return std::nullopt;
}

// Frames are indented; the first line that is not is the exception.
Block block_from(const std::vector<std::string_view>& lines, std::size_t heading) {
  std::size_t end = heading + 1;
  while (end < lines.size() && lines[end].starts_with(' ')) ++end;
  return {heading, end < lines.size() ? end + 1 : end};
}

bool chained(const std::vector<std::string_view>& lines, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    if (joins_chain(lines[i])) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> python_traceback(const std::vector<std::string>& lines) {
  const auto prefix = prefix_of_last(lines);
  if (!prefix) return std::nullopt;
  std::vector<std::string_view> own;
  for (const std::string& line : lines) {
    if (line.starts_with(*prefix)) own.push_back(std::string_view(line).substr(prefix->size()));
  }
  std::optional<Block> found;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i] != kHeading) continue;
    Block block = block_from(own, i);
    if (found && chained(own, found->end, i)) block.begin = found->begin;
    found = block;
  }
  if (!found) return std::nullopt;
  return fmt::format("{}", fmt::join(own.begin() + static_cast<std::ptrdiff_t>(found->begin),
                                     own.begin() + static_cast<std::ptrdiff_t>(found->end), "\n"));
}

}  // namespace gangrun::process
