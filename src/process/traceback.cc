#include "process/traceback.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "base/format.h"

namespace gangrun::process {

namespace {

constexpr std::string_view kHeading = "Traceback (most recent call last):";
// It stands before the heading of a group of exceptions.
constexpr std::string_view kGroup = "Exception Group ";
constexpr std::string_view kFrame = "  File \"";

// Python's words between two tracebacks of one chain.
bool joins_chain(std::string_view line) {
  return line == "During handling of the above exception, another exception occurred:" ||
         line == "The above exception was the direct cause of the following exception:";
}

struct Block {
  std::size_t begin = 0;
  std::size_t end = 0;  // after the line with the exception
};

struct Heading {
  std::size_t at = 0;
  std::string prefix{};  // of the lines behind it
  std::string_view text{};
};

// Python prints nothing but blanks before a heading. But launchers put a rank or a time before each
// line, and an unfinished line ("epoch 3 …") stands before the heading only.
std::string_view prefix_of_frames(std::string_view before, const std::vector<std::string>& lines,
                                  std::size_t heading) {
  for (std::size_t i = heading + 1; i < lines.size(); ++i) {
    const std::size_t frame = lines[i].find(kFrame);
    if (frame <= before.size() && lines[i].starts_with(before.substr(0, frame))) {
      return before.substr(0, frame);
    }
  }
  return before;
}

// "  + Exception Group Traceback …": a bar is before the lines behind it.
std::string prefix_of_group(std::string_view before) {
  std::string prefix(before);
  if (prefix.ends_with("+ ")) prefix.replace(prefix.size() - 2, 1, "|");
  return prefix;
}

std::optional<Heading> last_heading(const std::vector<std::string>& lines) {
  for (std::size_t at = lines.size(); at-- > 0;) {
    const std::string_view line = lines[at];
    if (!line.ends_with(kHeading)) continue;
    std::string_view before = line.substr(0, line.size() - kHeading.size());
    if (!before.ends_with(kGroup)) {
      return Heading{at, std::string(prefix_of_frames(before, lines, at)), kHeading};
    }
    before.remove_suffix(kGroup.size());
    return Heading{at, prefix_of_group(before), line.substr(before.size())};
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
  const auto last = last_heading(lines);
  if (!last) return std::nullopt;
  std::vector<std::string_view> own;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (i == last->at) {
      own.push_back(last->text);
    } else if (line.starts_with(last->prefix)) {
      own.push_back(line.substr(last->prefix.size()));
    }
  }
  std::optional<Block> found;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i] != kHeading && own[i] != last->text) continue;
    Block block = block_from(own, i);
    if (found && chained(own, found->end, i)) block.begin = found->begin;
    found = block;
  }
  if (!found) return std::nullopt;
  return fmt::format("{}", fmt::join(own.begin() + static_cast<std::ptrdiff_t>(found->begin),
                                     own.begin() + static_cast<std::ptrdiff_t>(found->end), "\n"));
}

}  // namespace gangrun::process
