#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace gangrun::hadoop {

// The digests of large files that are wanted again and again: reading a gigabyte takes longer
// than all the rest of a submission. A file is the same as long as path, device, inode, size and
// both its times are; one that was changed in the last seconds is read again, since its times may
// not tell of the next change. They are kept in one file for all processes of the user; where that
// cannot be read or written, digests are taken again.
class DigestCache {
 public:
  // `path` is that file's; empty: nothing is kept.
  explicit DigestCache(std::string path) : path_(std::move(path)) {}

  // The SHA-256 of the whole regular file that is open as `fd`, in hexadecimal digits.
  base::Result<std::string> digest_of(const std::string& file, int fd, base::WallTime now);

 private:
  const std::string path_;
};

}  // namespace gangrun::hadoop
