#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::base {

// The file that a user names as the place of an output. A regular file, or nothing, becomes the
// whole output or stays as it was: it is written beside and renamed, at the end of a symbolic link
// too. Anything else (a device, a FIFO, our own standard output by /dev/stdout) is never replaced
// but written to.
//
// Errors name the path as the user gave it; what cannot be written is never kNotFound or
// kInvalidArgument, which are about what was to be written.
class OutputFile {
 public:
  // `patience`: how long a reader may be missing, or take nothing. A new file gets `mode`.
  static Result<OutputFile> open(const std::string& path, mode_t mode,
                                 std::chrono::milliseconds patience);
  OutputFile(OutputFile&&) = default;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile& operator=(OutputFile&&) = delete;
  // Without commit() what was written beside is removed.
  ~OutputFile();

  Result<> write(std::string_view piece);
  Result<> commit();

 private:
  OutputFile(std::string path, std::chrono::milliseconds patience)
      : path_(std::move(path)), patience_(patience) {}
  [[nodiscard]] Error failed(int error_number) const;
  Result<> open_as_it_is();
  Result<> open_beside(std::string target, mode_t mode);

  std::string path_;
  std::chrono::milliseconds patience_;
  std::string target_;  // where path_ leads
  std::string beside_;  // not empty: to be renamed to target_
  UniqueFd file_;
};

}  // namespace gangrun::base
