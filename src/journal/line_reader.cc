#include "journal/line_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/files.h"
#include "base/format.h"

namespace gangrun::journal {

namespace {

constexpr std::size_t kMaxChunkBytes = std::size_t{256} << 10U;

}  // namespace

LineReader::LineReader(std::string path, base::UniqueFd fd, std::size_t max_line_bytes)
    : path_(std::move(path)), fd_(std::move(fd)), max_line_bytes_(max_line_bytes) {}

base::Result<LineReader> LineReader::open(const std::string& path, std::size_t max_line_bytes) {
  GANGRUN_ASSIGN(base::UniqueFd fd, base::open_file(path, O_RDONLY));
  return LineReader(path, std::move(fd), max_line_bytes);
}

base::Result<std::optional<std::string_view>> LineReader::next() {
  while (true) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end != std::string::npos) {
      const std::string_view line(buffer_.data() + taken_, end - taken_);
      taken_ = searched_ = end + 1;
      return std::optional(line);
    }
    buffer_.erase(0, taken_);
    taken_ = 0;
    searched_ = buffer_.size();
    if (buffer_.size() > max_line_bytes_) {
      return base::Error{
          base::Code::kResourceExhausted,
          base::format("{} has a line of more than {} bytes", path_, max_line_bytes_)};
    }
    GANGRUN_ASSIGN(const bool more, fill());
    if (!more) return std::optional<std::string_view>();
  }
}

base::Result<bool> LineReader::fill() {
  const std::size_t had = buffer_.size();
  buffer_.resize(had + chunk_bytes_);
  ssize_t got = -1;
  do {
    got = ::read(fd_.get(), buffer_.data() + had, chunk_bytes_);
  } while (got < 0 && errno == EINTR);
  const int error = errno;
  const auto count = static_cast<std::size_t>(got > 0 ? got : 0);
  buffer_.resize(had + count);
  if (got < 0) return base::from_errno(error, base::format("cannot read {}", path_));
  if (count == chunk_bytes_) chunk_bytes_ = std::min(2 * chunk_bytes_, kMaxChunkBytes);
  return got > 0;
}

}  // namespace gangrun::journal
