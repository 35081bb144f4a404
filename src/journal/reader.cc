#include "journal/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/unique_fd.h"
#include "journal/line_reader.h"
#include "journal/segments.h"

namespace gangrun::journal {

namespace {

using base::format;
using base::Result;

constexpr std::size_t kChunkBytes = std::size_t{64} << 10U;
// So much of the end of a segment is searched for a status; events between two are far less.
constexpr std::size_t kMaxTailBytes = 4 * kMaxLineBytes;

base::Error damaged(const std::string& path, std::size_t line, const base::Error& error) {
  // An error about a file that only another program can have written keeps its code.
  const bool damage = error.code == base::Code::kInvalidArgument && line > 1;
  return base::Error{damage ? base::Code::kDataLoss : error.code,
                     format("{}, line {}: {}", path, line, error.message)};
}

// The lines of a text, as LineReader gives those of a file.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : text_(text) {}
  Result<std::optional<std::string_view>> next() {
    const std::size_t end = text_.find('\n');
    if (end == std::string_view::npos) return std::optional<std::string_view>();
    const std::string_view line = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return std::optional(line);
  }
  [[nodiscard]] bool has_torn_tail() const { return !text_.empty(); }

 private:
  std::string_view text_;
};

template <typename Lines>
Result<Segment> segment_of(Lines lines, const std::string& path, int number) {
  Segment segment;
  segment.number = number;
  for (std::size_t line_number = 1;; ++line_number) {
    auto line = lines.next();
    if (!line.ok()) return damaged(path, line_number, line.error());
    if (!*line) break;
    if (line_number == 1) {
      auto header = parse_header(**line);
      if (!header.ok()) return damaged(path, line_number, header.error());
      segment.header = *std::move(header);
      continue;
    }
    auto record = parse_record(**line, static_cast<std::int64_t>(line_number) - 1);
    if (!record.ok()) return damaged(path, line_number, record.error());
    segment.records.push_back(*std::move(record));
  }
  segment.truncated_tail = lines.has_torn_tail() || !segment.header;
  return segment;
}

Result<> check_header(const std::string& path, const Journal& journal, const Segment& segment) {
  if (!segment.header) return {};
  if (segment.header->attempt != segment.number) {
    return base::Error{base::Code::kDataLoss,
                       format("{}, line 1: it is segment {}", path, segment.header->attempt)};
  }
  for (const Segment& other : journal.segments) {
    if (!other.header || other.header->job_id == segment.header->job_id) continue;
    return base::Error{base::Code::kDataLoss,
                       format("{}, line 1: it is of job {} and not of {}", path,
                              segment.header->job_id, other.header->job_id)};
  }
  return {};
}

base::Error no_journal(const std::string& folder) {
  return base::not_found(format("there is no journal in {}", folder));
}

// Reads a file from its end to its beginning, line by line.
class BackwardLines {
 public:
  BackwardLines(const std::string& path, base::UniqueFd fd, std::int64_t size)
      : path_(path), fd_(std::move(fd)), at_(size) {}

  // The complete line before the one that was handed out last; none at the beginning, or where
  // kMaxTailBytes have been searched. Skips a part of a line at the end.
  Result<std::optional<std::string_view>> previous() {
    while (true) {
      // The text is "…\nline\n" with `end_` just behind the last line that is left.
      if (end_ > 0) {
        const std::size_t newline = end_ == 1 ? std::string::npos : text_.rfind('\n', end_ - 2);
        if (newline != std::string::npos || at_ == 0) {
          const std::size_t start = newline == std::string::npos ? 0 : newline + 1;
          const std::string_view line = std::string_view(text_).substr(start, end_ - 1 - start);
          end_ = start;
          return std::optional(line);
        }
      }
      if (at_ == 0 || read_ > kMaxTailBytes) return std::optional<std::string_view>();
      GANGRUN_TRY(read_before());
    }
  }

 private:
  Result<> read_before() {
    // Each time twice as much: a long line is not copied again and again.
    const auto wanted =
        std::min<std::int64_t>(at_, static_cast<std::int64_t>(std::max(kChunkBytes, text_.size())));
    const std::string what = format("cannot read {}", path_);
    GANGRUN_ASSIGN(const std::string chunk,
                   base::read_at(fd_.get(), at_ - wanted, static_cast<std::size_t>(wanted), what));
    if (std::ssize(chunk) < wanted) return base::from_errno(EIO, what);
    at_ -= wanted;
    read_ += chunk.size();
    // Behind end_ is what was handed out, or a part of a line.
    text_ = chunk + text_.substr(0, end_);
    end_ = text_.rfind('\n') == std::string::npos ? 0 : text_.rfind('\n') + 1;
    return {};
  }

  const std::string& path_;
  base::UniqueFd fd_;
  std::int64_t at_;      // what is before it has not been read
  std::string text_;     // of the file, from at_
  std::size_t end_ = 0;  // of text_: behind it, everything was handed out
  std::size_t read_ = 0;
};

Result<std::optional<job::JobStatus>> last_status_in(const std::string& path) {
  GANGRUN_ASSIGN(base::UniqueFd fd, base::open_file(path, O_RDONLY));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    return base::from_errno(errno, format("cannot read {}", path));
  }
  BackwardLines lines(path, std::move(fd), info.st_size);
  while (true) {
    GANGRUN_ASSIGN(const auto line, lines.previous());
    if (!line) return std::optional<job::JobStatus>();
    if (!holds_status(*line)) continue;
    auto status = parse_status(*line);
    if (status.ok()) return std::optional(*std::move(status));
    return base::Error{base::Code::kDataLoss, format("{}: {}", path, status.error().message)};
  }
}

// None: the header is not whole.
Result<bool> has_header(const std::string& path) {
  GANGRUN_ASSIGN(LineReader lines, LineReader::open(path, kMaxLineBytes));
  auto line = lines.next();
  if (!line.ok()) return damaged(path, 1, line.error());
  if (!*line) return false;
  const auto header = parse_header(**line);
  if (!header.ok()) return damaged(path, 1, header.error());
  return true;
}

}  // namespace

Result<Journal> read_journal(const std::string& folder) {
  GANGRUN_ASSIGN(const auto numbers, segment_numbers(folder));
  if (numbers.empty()) return no_journal(folder);
  Journal journal;
  for (const int number : numbers) {
    const std::string path = segment_path(folder, number);
    GANGRUN_ASSIGN(LineReader lines, LineReader::open(path, kMaxLineBytes));
    GANGRUN_ASSIGN(Segment segment, segment_of(std::move(lines), path, number));
    GANGRUN_TRY(check_header(path, journal, segment));
    journal.segments.push_back(std::move(segment));
  }
  return journal;
}

Result<Journal> parse_journal(const std::vector<std::string_view>& contents) {
  Journal journal;
  for (const std::string_view content : contents) {
    const int number = static_cast<int>(journal.segments.size()) + 1;
    const std::string path = format("segment {}", number);
    GANGRUN_ASSIGN(Segment segment, segment_of(TextLines(content), path, number));
    GANGRUN_TRY(check_header(path, journal, segment));
    journal.segments.push_back(std::move(segment));
  }
  return journal;
}

Result<std::optional<job::JobStatus>> last_status(const std::string& folder) {
  GANGRUN_ASSIGN(const auto numbers, segment_numbers(folder));
  if (numbers.empty()) return no_journal(folder);
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
    const std::string path = segment_path(folder, *number);
    GANGRUN_ASSIGN(const bool whole, has_header(path));
    if (!whole) continue;
    GANGRUN_ASSIGN(auto status, last_status_in(path));
    if (status) return status;
  }
  return std::optional<job::JobStatus>();
}

}  // namespace gangrun::journal
