#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::journal {

// The lines of a file, one after another, in constant memory.
class LineReader {
 public:
  static base::Result<LineReader> open(const std::string& path, std::size_t max_line_bytes);

  // The next complete line without its end, valid until the next call; none at the end of the
  // file. kResourceExhausted for a line over the limit.
  base::Result<std::optional<std::string_view>> next();
  // At the end: bytes that no line end follows.
  [[nodiscard]] bool has_torn_tail() const { return !buffer_.empty(); }

 private:
  LineReader(std::string path, base::UniqueFd fd, std::size_t max_line_bytes);
  base::Result<bool> fill();

  std::string path_;
  base::UniqueFd fd_;
  std::size_t max_line_bytes_;
  std::string buffer_;
  std::size_t chunk_bytes_ = std::size_t{8} << 10U;  // to be read at once; grows with a long file
  std::size_t taken_ = 0;                            // of the buffer: lines that were handed out
  std::size_t searched_ = 0;                         // of the buffer: holds no line end
};

}  // namespace gangrun::journal
